/** A small Telegram on loopback: people, groups, and the data centres their clients connect to. */
import { randomBytes, randomInt } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { tl } from '@mtcute/core'
import { authHandlers } from './auth.ts'
import type { Channel, Group, Place } from './channel.ts'
import type { Connection, Habits } from './connection.ts'
import { sha1 } from './crypto.ts'
import { DataCentre, type Handlers, type Origin, RpcRefusal, type World } from './data-centre.ts'
import { Delivery } from './delivery.ts'
import { dialogHandlers } from './dialogs.ts'
import { directMessageHandlers } from './direct-messages.ts'
import { FileStore, fileHandlers } from './files.ts'
import { giftHandlers } from './gifts.ts'
import { groupHandlers } from './groups.ts'
import { longOf } from './handshake.ts'
import { inviteHandlers } from './invites.ts'
import { lookupHandlers } from './lookup.ts'
import { messageHandlers } from './messages.ts'
import { opinionHandlers } from './opinions.ts'
import { newPerson, type Person } from './people.ts'
import { profileHandlers } from './profile.ts'
import { smallGroupHandlers } from './small-groups.ts'
import { SecondFactor } from './srp.ts'
import { stateHandlers } from './state.ts'
import { type StickerSet, stickerHandlers } from './stickers.ts'
import { storyHandlers } from './stories.ts'
import { topicHandlers } from './topics.ts'

export interface PersonOptions {
  readonly centre?: number
  readonly password?: string
  readonly hint?: string
  readonly email?: string
}

const FIRST = 2
const OTHER = 4

export class TelegramNetwork {
  readonly people = new Map<number, Person>()
  readonly places = new Map<number, Place>()
  readonly files = new FileStore()
  readonly stickerSets = new Map<string, StickerSet>()
  /** Of chats and people. */
  readonly pictures = new Map<string, tl.RawPhoto>()
  /** What everybody can buy. */
  readonly gifts: tl.RawStarGift[] = []
  readonly delivery = new Delivery(this)
  /** Defects of the network itself: a test that sees one has found nothing out. */
  readonly defects: unknown[] = []
  /** So often nobody may sign in at another data centre. */
  importsRefused = 0
  /** Nobody learns where the data centres are. */
  isConfigLost = false
  /** What its data centres do that a client must bear. */
  readonly habits: Habits = { packs: false, zips: false, shortens: false, givesSalts: false }
  /** There are so many people that nobody knows anybody. */
  isCrowd = false
  /** Stands between a request and those who answer it. */
  between: NonNullable<World['between']> = (_, carryOut) => carryOut()
  /** Changes whenever somebody could see something new. */
  readonly changes = new EventTarget()
  #centres: DataCentre[] = []
  #nextId = randomInt(100_000, 900_000) * 1000

  static async start(t: { teardown(end: () => unknown): void }): Promise<TelegramNetwork> {
    const network = new TelegramNetwork()
    const isCut = (userId: number) => (network.people.get(userId)?.cutUntil ?? 0) > Date.now()
    const handlers: Handlers = {
      ...authHandlers(network),
      ...stateHandlers(network),
      ...lookupHandlers(network),
      ...dialogHandlers(network),
      ...messageHandlers(network),
      ...fileHandlers(network),
      ...groupHandlers(network),
      ...smallGroupHandlers(network),
      ...inviteHandlers(network),
      ...profileHandlers(network),
      ...opinionHandlers(network),
      ...topicHandlers(network),
      ...storyHandlers(network),
      ...stickerHandlers(network),
      ...giftHandlers(network),
      ...directMessageHandlers(network),
    }
    for (const id of [FIRST, OTHER]) {
      const defect = (cause: unknown) => network.defects.push(cause)
      const { habits } = network
      const between: World['between'] = (name, carryOut) => network.between(name, carryOut)
      const world = { handlers, habits, isCut, defect, between }
      network.#centres.push(await DataCentre.start(id, world))
    }
    t.teardown(() => network.stop())
    return network
  }

  get centres(): readonly DataCentre[] {
    return this.#centres
  }

  /** Where a client that knows nothing yet connects to. */
  get entrance(): { readonly id: number; readonly ipAddress: string; readonly port: number } {
    const [first] = this.#centres
    return { id: FIRST, ipAddress: '127.0.0.1', port: first?.port ?? 0 }
  }

  person({ centre = FIRST, password, hint, email }: PersonOptions = {}): Person {
    const secondFactor = password === undefined ? undefined : new SecondFactor(password, hint)
    const person = newPerson(this.newId(), { centre, secondFactor, email })
    this.people.set(person.id, person)
    return person
  }

  /** A device of theirs on which they signed in some time ago; returns its key. */
  device({ id, centre }: Person): Buffer {
    const key = randomBytes(256)
    // The library leaves zeros out where a key begins with them.
    key[0] = Math.max(1, key[0] ?? 1)
    const auth = { id: sha1(key).subarray(-8).toString('hex'), key, salt: longOf(randomBytes(8)) }
    const home = this.#centres.find((one) => one.id === centre)
    home?.devices.set(auth.id, { auth, sessions: new Map(), outcomes: new Map(), userId: id })
    return key
  }

  group(members: readonly Person[]): Group {
    const id = this.newId()
    const group: Group = {
      kind: 'group',
      id,
      title: `Group ${id}`,
      members: new Set(members.map((member) => member.id)),
      admins: new Set(),
    }
    this.places.set(id, group)
    return group
  }

  channel(
    owner: Person,
    members: readonly Person[],
    isBroadcast = true,
    parent?: Channel,
  ): Channel {
    const id = this.newId()
    const channel: Channel = {
      kind: 'channel',
      id,
      ...(parent && { parent }),
      title: `Channel ${id}`,
      isBroadcast,
      isForum: false,
      topics: new Map(),
      general: { title: 'General', isClosed: false, isHidden: false },
      boosts: [],
      owner: owner.id,
      joinedAt: 1,
      username: `channel${id}`,
      members: new Set([owner, ...members].map((member) => member.id)),
      about: '',
      invites: new Map(),
      joinRequests: new Map(),
      pinned: [],
      defaultRights: { _: 'chatBannedRights', untilDate: 0 },
      admins: new Map(),
      ranks: new Map(),
      asksFirst: false,
      banned: new Map(),
      reactions: new Map(),
      pts: 1,
      countsFrom: 0,
      failures: 0,
      slowSeconds: 0,
      changedAt: 0,
      nextMessage: 1,
      events: [],
      messages: new Map(),
    }
    this.places.set(id, channel)
    return channel
  }

  /** Where people write to a channel: each has a conversation of their own with its owner. */
  directMessages(channel: Channel, people: readonly Person[]): Channel {
    const direct = this.channel(this.people.get(channel.owner)!, people, false, channel)
    channel.direct = direct
    return direct
  }

  /** Resolves with the first value that `find` yields, looking again after every change. */
  async until<Value>(find: () => Value | undefined, signal: AbortSignal): Promise<Value> {
    for (;;) {
      const found = find()
      if (found !== undefined) return found
      signal.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      const giveUp = () => reject(signal.reason)
      this.changes.addEventListener('change', resolve, { once: true })
      signal.addEventListener('abort', giveUp, { once: true })
      await promise.finally(() => signal.removeEventListener('abort', giveUp))
    }
  }

  newId(): number {
    return this.#nextId++
  }

  /** Who asks; refuses whoever is not signed in any more. */
  asker({ device, centre }: Origin): Person {
    const person = this.people.get(device.userId ?? 0)
    if (!person) throw new RpcRefusal(401, 'AUTH_KEY_UNREGISTERED')
    if (person.isBanned) throw new RpcRefusal(401, 'USER_DEACTIVATED_BAN')
    const { sentTo = centre.id } = person
    if (sentTo !== centre.id) throw new RpcRefusal(303, `USER_MIGRATE_${sentTo}`)
    return person
  }

  connectionsOf({ id }: Person): Connection[] {
    return this.#centres.flatMap((centre) => centre.connectionsOf(id))
  }

  /** Every key of the account is worthless from now on. */
  revoke(person: Person) {
    const connections = this.connectionsOf(person)
    for (const { devices } of this.#centres) {
      for (const device of devices.values()) {
        if (device.userId === person.id) delete device.userId
      }
    }
    for (const connection of connections) connection.cut()
  }

  /** Every connection on which a client has spoken for the account, also those that have ended. */
  sessionsOf({ id }: Person) {
    return this.#centres
      .flatMap(({ everyConnection }) => everyConnection)
      .filter(({ device }) => device?.userId === id)
      .flatMap(({ client, openedAt, heardAt }) =>
        client === undefined ? [] : [{ client, openedAt, heardAt }],
      )
  }

  /** Whether a key of the account was used by two clients at once. */
  isDuplicated({ id }: Person): boolean {
    const devices = this.#centres.flatMap((centre) => [...centre.devices.values()])
    return devices.some(({ userId, isDuplicated }) => userId === id && isDuplicated)
  }

  /** How many clients are signed in. */
  devicesOf({ id }: Person): number {
    const devices = this.#centres.flatMap((centre) => [...centre.devices.values()])
    return devices.filter(({ userId }) => userId === id).length
  }

  requests(name: tl.RpcMethod['_']): number {
    return this.#centres.flatMap(({ requests }) => requests).filter((it) => it === name).length
  }

  /** The salts that clients know are worth nothing from now on. */
  changeSalts() {
    for (const { devices } of this.#centres) {
      for (const { auth } of devices.values()) auth.salt = longOf(randomBytes(8))
    }
  }

  /** The line of one account is dead for a while. */
  cut(person: Person, milliseconds: number) {
    person.cutUntil = Date.now() + milliseconds
    for (const connection of this.connectionsOf(person)) connection.cut()
  }

  async restart(pauseMilliseconds: number): Promise<void> {
    for (const centre of this.#centres) await centre.stop()
    await pause(pauseMilliseconds)
    for (const centre of this.#centres) await centre.listen()
  }

  async stop(): Promise<void> {
    for (const centre of this.#centres) await centre.stop()
  }
}
