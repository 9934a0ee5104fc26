/** The name that people gave themselves on their card (XEP-0054). */
import { xml } from '@xmpp/client'
import { ns } from './namespaces.ts'
import { type RequestOptions, RequestRefused, type Requests } from './requests.ts'

const cardMilliseconds = 4_000

/** `undefined` when there is none or its server is slow; `whom` absent: the account's own. */
export async function nicknameOf(
  requests: Requests,
  whom: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const options: RequestOptions = {
    signal,
    milliseconds: cardMilliseconds,
    ...(whom !== undefined && { to: whom }),
  }
  try {
    const answer = await requests.ask('get', xml('vCard', ns.vcard), options)
    const card = answer.getChild('vCard', ns.vcard)
    return card?.getChildText('NICKNAME') || card?.getChildText('FN') || undefined
  } catch (cause) {
    const isSlow = cause instanceof DOMException && cause.name === 'TimeoutError'
    if (cause instanceof RequestRefused || isSlow) return undefined
    throw cause
  }
}
