/** The rooms that the account is in, as its devices keep them on the server (XEP-0402). */
import { xml } from '@xmpp/client'
import { parseAddress } from '../address.ts'
import { ns } from '../namespaces.ts'
import { RequestRefused, type Requests } from '../requests.ts'

export interface Bookmark {
  readonly room: string
  readonly nick?: string
  readonly password?: string
}

/** Those to be joined without asking; none where the server keeps none. */
export async function bookmarks(requests: Requests, signal: AbortSignal): Promise<Bookmark[]> {
  try {
    const items = xml('items', { node: ns.bookmarks })
    const answer = await requests.ask('get', xml('pubsub', ns.pubsub, items), { signal })
    const found = answer.getChild('pubsub', ns.pubsub)?.getChild('items')?.getChildren('item') ?? []
    return found.flatMap((item): Bookmark[] => {
      const conference = item.getChild('conference', ns.bookmarks)
      const room = parseAddress(item.attrs.id)
      const isWanted = ['true', '1'].includes(conference?.attrs.autojoin ?? '')
      if (!conference || !room?.local || room.resource || !isWanted) return []
      const nick = conference.getChildText('nick')
      const password = conference.getChildText('password')
      return [{ room: room.bare, ...(nick && { nick }), ...(password && { password }) }]
    })
  } catch (cause) {
    if (cause instanceof RequestRefused) return []
    throw cause
  }
}

/** From now on a room of all devices of the account. Rejects with `RequestRefused` where the server keeps none. */
export async function addBookmark(
  requests: Requests,
  { room, nick, password }: Bookmark,
  signal: AbortSignal,
): Promise<void> {
  const conference = xml(
    'conference',
    { xmlns: ns.bookmarks, autojoin: 'true' },
    nick && xml('nick', {}, nick),
    password && xml('password', {}, password),
  )
  const option = (name: string, value: string, type?: string) =>
    xml('field', { var: name, type }, xml('value', {}, value))
  await requests.ask(
    'set',
    xml(
      'pubsub',
      ns.pubsub,
      xml('publish', { node: ns.bookmarks }, xml('item', { id: room }, conference)),
      xml(
        'publish-options',
        {},
        xml(
          'x',
          { xmlns: ns.form, type: 'submit' },
          option('FORM_TYPE', ns.publishOptions, 'hidden'),
          option('pubsub#persist_items', 'true'),
          option('pubsub#max_items', 'max'),
          option('pubsub#send_last_published_item', 'never'),
          option('pubsub#access_model', 'whitelist'),
        ),
      ),
    ),
    { signal },
  )
}

export async function removeBookmark(
  requests: Requests,
  room: string,
  signal: AbortSignal,
): Promise<void> {
  const retract = xml('retract', { node: ns.bookmarks, notify: 'true' }, xml('item', { id: room }))
  try {
    await requests.ask('set', xml('pubsub', ns.pubsub, retract), { signal })
  } catch (cause) {
    // There was none.
    if (!(cause instanceof RequestRefused)) throw cause
  }
}
