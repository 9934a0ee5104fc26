/** Copies of what the account's other devices send and receive (XEP-0280), to be asked for on each new stream. */
import { xml } from '@xmpp/client'
import { ns } from './namespaces.ts'
import { RequestRefused, type Requests } from './requests.ts'

/** Resolves with whether the server does so. */
export async function enableCarbons(requests: Requests, signal: AbortSignal): Promise<boolean> {
  try {
    await requests.ask('set', xml('enable', ns.carbons), { signal })
    return true
  } catch (cause) {
    if (cause instanceof RequestRefused) return false
    throw cause
  }
}
