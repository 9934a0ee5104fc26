/** Toxiproxy spoils the way to the server while both sides write: what was acknowledged arrives once, in order. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { RequestFailed } from '../../machines/model/failure.ts'
import { toxicFaults } from '../faults/toxic-faults.ts'
import type { SlixmppClient } from '../support/slixmpp.ts'
import { Toxiproxy } from '../support/toxiproxy.ts'
import { type Run, run, Store } from './contract/recorder.ts'
import { linked, perform, sending } from './contract/scene.ts'
import { Network } from './xmpp/network.ts'
import { serverUnderTest } from './xmpp/under-test.ts'

const takesMs = 180_000
t.setTimeout(takesMs)

/** Each kind of Toxiproxy's at least once, a line that is half open among them; more by `SEEDS=1,2,3`. */
const SEEDS = (process.env.SEEDS ?? '1,5,8,10,17,20,31,35').split(',').map(Number)
const LASTS_MS = 1_500
const EVERY_MS = 40
const AGAIN_MS = 100

const toxiproxy = await Toxiproxy.start()
if (typeof toxiproxy !== 'string') t.teardown(() => toxiproxy.stop())
const skip = serverUnderTest().skip || (typeof toxiproxy === 'string' && toxiproxy)

/** A session that is opened again whenever it ends, as the service does it. */
class Sessions {
  readonly #open: () => Run
  readonly #over = new AbortController()
  #run: Run
  readonly #going: Promise<void>

  constructor(open: () => Run) {
    this.#open = open
    this.#run = open()
    this.#going = this.#keep()
  }

  get current(): Run {
    return this.#run
  }

  async stop(): Promise<void> {
    this.#over.abort()
    await this.#going
    await this.#run.stop()
  }

  async #keep(): Promise<void> {
    const { signal } = this.#over
    while (!signal.aborted) {
      const ended = await this.#run.reported('lost', signal).catch(() => undefined)
      if (!ended) return
      await this.#run.stop()
      await pause(AGAIN_MS)
      this.#run = this.#open()
    }
  }
}

/** What the account writes, by what it was told of each. */
class Writing {
  readonly sent: string[] = []
  readonly unsure: string[] = []
  readonly refused: string[] = []
  /** The source keys under which the log has the messages. */
  readonly keys = new Map<string, string>()
  readonly #over = new AbortController()
  readonly #going: Promise<void>

  constructor(sessions: Sessions, chat: string) {
    this.#going = this.#write(sessions, chat)
  }

  async stop(): Promise<void> {
    this.#over.abort()
    await this.#going
  }

  async #write(sessions: Sessions, chat: string): Promise<void> {
    for (let count = 1; !this.#over.signal.aborted; count++) {
      const text = `ours ${count}`
      const requestId = crypto.randomUUID()
      this.keys.set(text, `own:${requestId}`)
      try {
        await perform(sessions.current, sending(chat, text), requestId)
        this.sent.push(text)
      } catch (cause) {
        if (!(cause instanceof RequestFailed)) throw cause
        const list = cause.failure.certain === false ? this.unsure : this.refused
        list.push(text)
      }
      await pause(EVERY_MS)
    }
  }
}

const numberOf = (text: string) => Number(text.split(' ')[1])
const inOrder = (texts: readonly string[]) =>
  texts.toSorted((one, other) => numberOf(one) - numberOf(other))
const bodiesOf = ({ seen }: SlixmppClient) =>
  seen.flatMap(({ body }) => (body?.startsWith('ours ') ? [body] : []))

t.test('what spoils the way loses, doubles and swaps nothing', { skip }, async (t) => {
  if (typeof toxiproxy === 'string') return
  const network = await Network.start(t)
  const account = await network.account()
  const friend = await network.friend()
  const port = await toxiproxy.leadTo('network', network.server.port)
  const fields = { ...account.fields, server: `xmpp://127.0.0.1:${port}` }
  const platform = network.platform({ confirmMilliseconds: 3_000, resumeMilliseconds: 5_000 })
  const contract = { native: account.jid, method: 'password', fields }
  const store = new Store(await linked(platform, contract))
  const sessions = new Sessions(() => run(platform, store))
  t.teardown(() => sessions.stop())
  await sessions.current.reported('opened')
  friend.send(account.jid, 'the first words')
  await store.message('the first words')

  const chat = friend.jid.replace(/\/.*/, '')
  const writing = new Writing(sessions, chat)
  const theirs: string[] = []
  const write = () => {
    const text = `theirs ${theirs.length + 1}`
    friend.send(account.jid, text)
    theirs.push(text)
  }
  const timer = setInterval(write, EVERY_MS)
  for (const fault of toxicFaults(toxiproxy, SEEDS, [['network']])) {
    const end = await fault.begin()
    await pause(LASTS_MS)
    await end()
    // Toxiproxy may leave a connection mute that outlives its toxic.
    for (const isOpen of [false, true]) await toxiproxy.turn('network', isOpen)
    const [before, began] = [writing.sent.length, performance.now()]
    write()
    await store.message(theirs.at(-1) ?? '')
    await store
      .until(() => (writing.sent.length > before ? true : undefined))
      .catch(() => undefined)
    const { sent, unsure, refused } = writing
    const took = Math.round(performance.now() - began)
    const counts = `${sent.length} sent, ${unsure.length} unsure, ${refused.length} refused`
    t.comment(`${fault.name}: back after ${took} ms; ${counts}`)
  }
  clearInterval(timer)
  await writing.stop()
  write()
  await store.message(theirs.at(-1) ?? '')
  const last = writing.sent.at(-1)
  await friend.sees(({ body }) => body === last)

  const told = store.texts().slice(1)
  const arrived = told.filter((text) => text.startsWith('theirs'))
  const { resendsLate } = serverUnderTest()
  t.strictSame(resendsLate ? inOrder(arrived) : arrived, theirs)
  const own = told.filter((text) => text.startsWith('ours'))
  t.strictSame(own, [...new Set(own)], 'no own message is told of twice')
  // A session may tell of what an earlier one sent.
  const known = own.filter((text) => !writing.unsure.includes(text))
  const keys = store.happenings.map(({ sourceKey }) => sourceKey)
  const others = known.filter((text) => !keys.includes(writing.keys.get(text) ?? ''))
  t.strictSame(others, [], 'one whose sender knows of it has the key under which the log has it')
  const seen = bodiesOf(friend)
  t.strictSame(seen, [...new Set(seen)], 'nothing twice')
  t.strictSame(seen, inOrder(seen), 'in order')
  const missing = writing.sent.filter((text) => !seen.includes(text))
  t.strictSame(missing, [], 'nothing that was said to be sent is missing')
  const refused = writing.refused.filter((text) => seen.includes(text))
  t.strictSame(refused, [], 'nothing arrived that was said not to be sent')
  t.ok(writing.sent.length > SEEDS.length, `${writing.sent.length} were sent`)
})
