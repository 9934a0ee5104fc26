/** Sends messages and albums: those that arrive while a statement is under way go together into the next one. */

import { randomInt } from 'node:crypto'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { Content, Message } from '../../../machines/model/content.ts'
import { badRequest, failed, RequestFailed, readBack } from '../../../machines/model/failure.ts'
import type { MediaKind } from '../../../machines/model/media.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { Person } from '../../../machines/model/person.ts'
import type { Queryable } from '../../database/database.ts'
import { openPrivateChats } from '../chats/private-chat.ts'
import { withOutbox } from '../chats/transaction.ts'
import {
  type MessageAttributes,
  messageOf,
  parseChatId,
  parseTopicId,
  personOf,
} from '../delivery/mapping.ts'
import { openPaid, storePaid } from '../delivery/paid-media.ts'
import { holderOf, mayHaveFiles, withFileHolds } from '../files/files.ts'
import type { Call, NetworkContext, Outbox, OutgoingMessage, Wake } from '../network/context.ts'
import { type MessageView, type PersonRow, personJson } from '../network/rows.ts'
import {
  assertButtons,
  assertTakes,
  buttonsFor,
  effectFor,
  neededPermission,
  type PaidContent,
  prepareContent,
} from './content.ts'
import { refusalOf } from './refusal.ts'
import { replyParts } from './replies.ts'
import { checkedKeyboard } from './reply-keyboards.ts'
import {
  isOfOneMessage,
  type SentRow,
  sendStatement,
  sentBefore,
  wokenBy,
} from './send-statement.ts'
import { suggestionOf } from './suggested-posts.ts'

const LARGEST_BATCH = 200
/** While one statement waits for the disk another one runs. More lanes would make the batches too small. */
const LANES = 2

/** Private chats that are remembered as open. */
const REMEMBERED = 50_000

/** The messages as their sender sees them; undefined where they were not admitted. */
type Sent = readonly MessageView[] | undefined

/** Messages that are sent together or not at all. */
interface Waiting {
  readonly messages: readonly OutgoingMessage[]
  resolve(sent: Sent): void
  reject(cause: unknown): void
}

/** Private chats by `keyOf` their two people. The statement detects a chat that was deleted meanwhile. */
interface OpenChats {
  get(key: string): true | undefined
  set(key: string, isOpen: true): unknown
  delete(key: string): unknown
}

const rememberedChats = (): OpenChats =>
  new LRUCache<string, true>({ maxSize: REMEMBERED, sizeCalculation: () => 1 })

const keyOf = ({ sender, native }: OutgoingMessage) =>
  sender < native ? `${sender} ${native}` : `${native} ${sender}`

/** Resolves when nothing more comes at this moment. */
type Turn = () => Promise<unknown>

/** Messages that arrive while a statement is under way go together into the next one. */
export class BatchedOutbox implements Outbox {
  readonly #db: Queryable
  readonly #open: OpenChats
  readonly #lanes: readonly Lane[]

  constructor(
    db: Queryable,
    wake: Wake,
    open: OpenChats = rememberedChats(),
    turn: Turn = endOfTurn,
  ) {
    this.#db = db
    this.#open = open
    this.#lanes = Array.from({ length: LANES }, () => new Lane(db, wake, open, turn))
  }

  /** Chats that the transaction opens are not remembered, and its messages are handed to nobody, because it may be undone. */
  within(tx: Queryable, wake: (people: readonly number[]) => void): Outbox {
    const open: OpenChats = {
      get: (key) => this.#open.get(key),
      delete: (key) => this.#open.delete(key),
      set: () => undefined,
    }
    // Nobody else sends there, and its locks are held meanwhile.
    return new BatchedOutbox(
      tx,
      (people) => wake(people),
      open,
      async () => undefined,
    )
  }

  async send(message: OutgoingMessage): Promise<Message> {
    const [sent] = await this.sendTogether([message])
    return sent!
  }

  /** Finds out why a message was not admitted: it was sent before, or its chat was deleted meanwhile. */
  async sendTogether(messages: readonly OutgoingMessage[]): Promise<Message[]> {
    const wasOpen = this.#open.get(keyOf(messages[0]!))
    const sent =
      (await this.#send(messages)) ??
      (await this.#allSentBefore(messages)) ??
      (wasOpen ? await this.#sendAgain(messages) : undefined)
    if (sent) return sent.map(messageOf)
    throw await refusalOf(this.#db, messages)
  }

  #send(messages: readonly OutgoingMessage[]): Promise<Sent> {
    // Messages to one chat use one lane, which keeps their order.
    const lane = this.#lanes[Math.abs(messages[0]?.native ?? 0) % LANES]!
    return lane.send(messages)
  }

  async #allSentBefore(messages: readonly OutgoingMessage[]): Promise<Sent> {
    const sent = await Promise.all(messages.map((message) => sentBefore(this.#db, message)))
    const known = sent.filter((view) => view !== undefined)
    return known.length === messages.length ? known : undefined
  }

  /** With its chat opened. */
  #sendAgain(messages: readonly OutgoingMessage[]): Promise<Sent> {
    this.#open.delete(keyOf(messages[0]!))
    return this.#send(messages)
  }
}

const pairOf = ({ sender, native }: OutgoingMessage) => ({ person: sender, other: native })

class Lane {
  readonly #db: Queryable
  readonly #wake: Wake
  readonly #open: OpenChats
  readonly #turn: Turn
  #waiting: Waiting[] = []
  #isBusy = false

  constructor(db: Queryable, wake: Wake, open: OpenChats, turn: Turn) {
    this.#db = db
    this.#wake = wake
    this.#open = open
    this.#turn = turn
  }

  send(messages: readonly OutgoingMessage[]): Promise<Sent> {
    const { promise, resolve, reject } = Promise.withResolvers<Sent>()
    this.#waiting.push({ messages, resolve, reject })
    if (!this.#isBusy) void this.#drain()
    return promise
  }

  async #drain() {
    this.#isBusy = true
    while (this.#waiting.length > 0) {
      // Messages of one turn of the event loop share it: alone, each would cost the database several times as much.
      await this.#turn()
      const batch = this.#waiting.slice(0, LARGEST_BATCH)
      this.#waiting = this.#waiting.slice(LARGEST_BATCH)
      await this.#sendTogether(batch)
    }
    this.#isBusy = false
  }

  async #sendTogether(batch: readonly Waiting[]): Promise<void> {
    const messages = batch.flatMap((waiting) => waiting.messages)
    const given = messages.map((message, ord) => ({
      ...message,
      ord,
      needs: neededPermission(message),
    }))
    try {
      const fresh = messages.filter((one) => one.native > 0 && !this.#open.get(keyOf(one)))
      if (fresh.length > 0) await openPrivateChats(this.#db, fresh.map(pairOf))
      const rows = await this.#db.query<SentRow>(sendStatement(messages), [JSON.stringify(given)])
      const sent = new Map(rows.map((row) => [row.ord, row]))
      this.#wake(...wokenBy(messages, rows))
      let ord = 0
      const alone: Waiting[] = []
      for (const waiting of batch) {
        const views = waiting.messages.flatMap(() => sent.get(ord++) ?? [])
        const { native } = waiting.messages[0]!
        if (native > 0 && views.length > 0) this.#open.set(keyOf(waiting.messages[0]!), true)
        const isSent = views.length === waiting.messages.length
        // Slow mode lets nobody send two at once, also where the one before was refused for another reason.
        if (isSent || native > 0 || batch.length === 1) waiting.resolve(isSent ? views : undefined)
        else alone.push(waiting)
      }
      for (const waiting of alone) await this.#sendTogether([waiting])
    } catch (cause) {
      await this.#sendApart(batch, cause)
    }
  }

  /** One message failed, a repeated request or one to a chat that was deleted meanwhile: the others are sent alone. */
  async #sendApart(batch: readonly Waiting[], cause: unknown) {
    if (!isOfOneMessage(cause)) for (const { reject } of batch) reject(cause)
    else if (batch.length === 1) batch[0]!.resolve(undefined)
    else for (const waiting of batch) await this.#sendTogether([waiting])
  }
}

type MediaContent = Content & { readonly kind: 'media' }
/** A message that still lacks its content. */
type Envelope = Omit<OutgoingMessage, 'content' | 'forward'>

/** A text needs no preparation: one statement sends it. */
export function send(call: Call, operation: OperationOf<'send'>): Promise<OperationResult> {
  return sendVia(call, operation)
}

/** `via` names the bot that offered the message. */
export async function sendVia(
  call: Call,
  operation: OperationOf<'send'>,
  via?: Pick<MessageAttributes, 'via' | 'isGuest'>,
): Promise<OperationResult & { readonly kind: 'message' }> {
  const { context, request } = call
  const { content: given } = operation
  const addressed = await envelopeOf(call, operation)
  const attributes = via && { attributes: { ...addressed.attributes, ...via } }
  const buttons = buttonsFor(given, operation.buttons)
  const envelope = { ...addressed, ...attributes, ...(buttons && { buttons }) }
  const { sender } = envelope
  const before = given.kind === 'text' ? undefined : await sentBefore(context.db, envelope)
  if (before) {
    const [message] = await openPaid(context.db, sender, [messageOf(before)])
    return { kind: 'message', message: message! }
  }
  await assertTakes(context, envelope, given)
  const deliver = async () => {
    const content = await prepareContent(context, sender, request, given)
    return content.kind === 'paid_media'
      ? sendPaid(context, { ...envelope, content })
      : context.outbox.send({ ...envelope, content })
  }
  const message = mayHaveFiles(given)
    ? await withFileHolds(context, [holderOf(sender, request)], deliver)
    : await deliver()
  return { kind: 'message', message }
}

/** The message and the files that it sells are stored together. Its sender sees the files. */
async function sendPaid(
  context: NetworkContext,
  message: Omit<OutgoingMessage, 'content'> & { readonly content: PaidContent },
): Promise<Message> {
  const { content, sender, native } = message
  const sent = await withOutbox(context, async (tx, outbox) => {
    if (content.paid.id !== undefined) return outbox.send(message)
    const paid = await storePaid(tx, sender, native, content.paid)
    return outbox.send({ ...message, content: { ...content, paid } })
  })
  const [opened = sent] = await readBack(openPaid(context.db, sender, [sent]))
  return opened
}

export async function envelopeOf(
  call: Call,
  operation: OperationOf<'send' | 'send_album' | 'forward' | 'copy'>,
): Promise<Envelope> {
  const { person, session } = call.by
  const { request } = call
  const { chat, replyTo, replyOptional, isProtected, topic } = operation
  const buttons = 'buttons' in operation ? operation.buttons : undefined
  const native = parseChatId(chat)
  assertButtons(buttons, native)
  const keyboard =
    'keyboard' in operation && operation.keyboard && checkedKeyboard(operation.keyboard, native)
  const parts = replyTo === undefined ? undefined : await replyParts(call, replyTo, operation)
  const isDirect = operation.directTopic !== undefined || operation.suggested !== undefined
  const attributes = {
    ...parts?.attributes,
    ...effectFor(operation, native),
    ...(await accountOf(call)),
    ...(call.sendAs && { fromChat: call.sendAs }),
    ...(isDirect && (await suggestionOf(call, native, operation))),
  }
  return {
    sender: person,
    ...(session !== undefined && { session }),
    native,
    request,
    ...parts,
    ...(Object.keys(attributes).length > 0 && { attributes }),
    ...(replyOptional && { replyOptional }),
    ...(isProtected && { isProtected }),
    ...(topic !== undefined && { topic: parseTopicId(topic) }),
    ...(buttons && { buttons }),
    ...(keyboard && { keyboard }),
  }
}

/** The account that acts for a business; nothing where the person acts. */
async function accountOf({
  context: { db },
  business,
}: Call): Promise<{ readonly sentBy?: Person }> {
  if (!business) return {}
  const [row] = await db.query<{ person: PersonRow }>(
    `select ${personJson('p')} as person from sandbox_person p where id = $1`,
    [business.account],
  )
  return row ? { sentBy: personOf(row.person) } : {}
}

const MOST_IN_ALBUM = 10
/** The kinds that may stand in one album. */
const GROUPS: readonly (readonly MediaKind[])[] = [['photo', 'video'], ['audio'], ['document']]

export async function sendAlbum(
  call: Call,
  operation: OperationOf<'send_album'>,
): Promise<OperationResult> {
  const { context } = call
  const { contents } = operation
  const envelope = await envelopeOf(call, operation)
  assertAlbum(contents.map(({ media }) => media.kind))
  const envelopes = contents.map((_, index) => ({
    ...envelope,
    request: index === 0 ? envelope.request : `${envelope.request}#${index}`,
  }))
  const before = await Promise.all(envelopes.map((each) => sentBefore(context.db, each)))
  const known = before.filter((view) => view !== undefined)
  if (known.length === contents.length) return { kind: 'messages', messages: known.map(messageOf) }

  const holders = envelopes.map(({ sender, request }) => holderOf(sender, request))
  const messages = await withFileHolds(context, holders, async () => {
    const album = contents.length > 1 ? { album: newAlbum() } : {}
    const ready: OutgoingMessage[] = []
    for (const [index, content] of contents.entries()) {
      const { sender, request } = envelopes[index]!
      const item = await prepareContent(context, sender, request, content).catch(inItem(index))
      ready.push({ ...envelopes[index]!, ...album, content: item })
    }
    assertAlbum(ready.map(({ content }) => (content as MediaContent).media.kind))
    return context.outbox.sendTogether(ready)
  })
  return { kind: 'messages', messages }
}

function assertAlbum(kinds: readonly MediaKind[]): void {
  if (kinds.length === 0) throw badRequest('there are no messages to send')
  if (kinds.length > MOST_IN_ALBUM) throw badRequest('too many messages to send as an album')
  const fits = GROUPS.some((group) => kinds.every((kind) => group.includes(kind)))
  if (!fits) throw badRequest("can't use the media of the specified type in the album")
}

const inItem = (index: number) => (cause: unknown) => {
  const isRefused = cause instanceof RequestFailed && cause.failure.code === 'bad_request'
  if (!isRefused) throw cause
  const { description } = cause.failure
  const text = `failed to send message #${index + 1} with the error message "${description}"`
  throw failed('bad_request', text, {}, { cause })
}

/** A number of fifteen digits, as text. */
const newAlbum = () => `${randomInt(1e14, 2 ** 48 - 1)}`
