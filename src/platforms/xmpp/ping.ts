/** A question that tells nothing but that somebody is there (XEP-0199). */
import { xml } from '@xmpp/client'
import { ns } from './namespaces.ts'
import { RequestRefused, type Requests } from './requests.ts'

export async function ping(requests: Requests, to: string, signal: AbortSignal): Promise<void> {
  try {
    await requests.ask('get', xml('ping', ns.ping), { to, signal })
  } catch (cause) {
    // An error is an answer too: whoever was asked lives.
    if (!(cause instanceof RequestRefused)) throw cause
  }
}
