/** The rooms that the account's devices keep on its server (XEP-0402): read at the start, and extended for the other devices. */
import { type Element, xml } from '@xmpp/client'
import { parseAddress } from '../address.ts'
import { ns } from '../namespaces.ts'
import { isDeclined, RequestRefused, type Requests } from '../requests.ts'

export interface Bookmark {
  readonly room: string
  readonly nick?: string
  readonly password?: string
}

interface SharedBookmark extends Bookmark {
  /** Whether devices join it without asking; a device clears this when it leaves the room. */
  readonly autojoin: boolean
}

/** The bookmarks that the server keeps; an empty list from a server without bookmarks. */
export async function bookmarks(
  requests: Requests,
  signal: AbortSignal,
): Promise<SharedBookmark[]> {
  try {
    const items = xml('items', { node: ns.bookmarks })
    const answer = await requests.ask('get', xml('pubsub', ns.pubsub, items), { signal })
    const found = answer.getChild('pubsub', ns.pubsub)?.getChild('items')?.getChildren('item') ?? []
    return found.flatMap((item): SharedBookmark[] => {
      const conference = item.getChild('conference', ns.bookmarks)
      const room = parseAddress(item.attrs.id)
      if (!conference || !room?.local || room.resource) return []
      const autojoin = ['true', '1'].includes(conference.attrs.autojoin ?? '')
      const nick = conference.getChildText('nick')
      const password = conference.getChildText('password')
      return [{ room: room.bare, autojoin, ...(nick && { nick }), ...(password && { password }) }]
    })
  } catch (cause) {
    if (isDeclined(cause)) return []
    throw cause
  }
}

type Settings = Readonly<Record<string, string>>

/** Keeps the node private, because a bookmark may hold a password. */
const secret: Settings = { 'pubsub#persist_items': 'true', 'pubsub#access_model': 'whitelist' }
/** A node that is too small would drop the previous bookmark with each new one. */
const lasting: Settings = { ...secret, 'pubsub#max_items': 'max' }
const quiet: Settings = { ...lasting, 'pubsub#send_last_published_item': 'never' }
/** From the best to what still does no harm. */
const acceptable = [quiet, lasting, { ...secret, 'pubsub#max_items': '1000' }]

/**
 * Bookmarks the room for all devices of the account. Rejects with `RequestRefused` if the server keeps no bookmarks, or
 * would drop earlier ones.
 */
export async function addBookmark(
  requests: Requests,
  bookmark: Bookmark,
  signal: AbortSignal,
): Promise<void> {
  try {
    await publish(requests, bookmark, quiet, signal)
  } catch (cause) {
    if (!(cause instanceof RequestRefused)) throw cause
    // ejabberd accepts these options for a node only, not with an item; other servers use the options of the existing
    // node.
    await prepareNode(requests, signal)
    await publish(requests, bookmark, undefined, signal)
  }
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

async function publish(
  requests: Requests,
  { room, nick, password }: Bookmark,
  settings: Settings | undefined,
  signal: AbortSignal,
): Promise<void> {
  const conference = xml(
    'conference',
    { xmlns: ns.bookmarks, autojoin: 'true' },
    nick && xml('nick', {}, nick),
    password && xml('password', {}, password),
  )
  const item = xml('publish', { node: ns.bookmarks }, xml('item', { id: room }, conference))
  const options = settings && xml('publish-options', {}, form(ns.publishOptions, settings))
  await requests.ask('set', xml('pubsub', ns.pubsub, item, options), { signal })
}

/**
 * Configures the node of the bookmarks, or creates it. Rejects with the server's refusal of the smallest set of
 * options.
 */
async function prepareNode(requests: Requests, signal: AbortSignal): Promise<void> {
  let refusal: unknown
  for (const settings of acceptable) {
    try {
      return await setUp(requests, settings, signal)
    } catch (cause) {
      if (!(cause instanceof RequestRefused)) throw cause
      refusal = cause
    }
  }
  throw refusal
}

async function setUp(requests: Requests, settings: Settings, signal: AbortSignal): Promise<void> {
  const configured = form(ns.nodeConfig, settings)
  const change = xml('configure', { node: ns.bookmarks }, configured)
  try {
    await requests.ask('set', xml('pubsub', ns.pubsubOwner, change), { signal })
  } catch (cause) {
    if (!(cause instanceof RequestRefused) || cause.condition !== 'item-not-found') throw cause
    const create = xml('create', { node: ns.bookmarks })
    const node = xml(
      'pubsub',
      ns.pubsub,
      create,
      xml('configure', {}, form(ns.nodeConfig, settings)),
    )
    await requests.ask('set', node, { signal })
  }
}

function form(type: string, settings: Settings): Element {
  const field = (name: string, value: string, kind?: string) =>
    xml('field', { var: name, type: kind }, xml('value', {}, value))
  return xml(
    'x',
    { xmlns: ns.form, type: 'submit' },
    field('FORM_TYPE', type, 'hidden'),
    ...Object.entries(settings).map(([name, value]) => field(name, value)),
  )
}
