/** When the network is told that its messages came: with the next request, unless there are many or they are old. */
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { type Long, SessionConnection } from '@mtcute/node'
import t from 'tap'
import { until } from '../support/client.ts'
import { carries } from './contract/content.ts'
import { patience } from './contract/recorder.ts'
import { live } from './telegram/live.ts'
import { Stage } from './telegram/stage.ts'

interface Flushing {
  acksSince: number
  readonly params: { readonly isMainConnection: boolean }
  readonly _session: { queuedAcks: unknown[] }
  _handleMessage(...told: readonly [id: Long, message: { readonly _: string }]): void
  readonly _inactive: boolean
  _inactivityTimeout: NodeJS.Timeout
  _onInactivityTimeout(): void
  _flush(): void
}

/** Of the connections that were made since. */
const flushed: Flushing[] = []
const ofFiles = new Set<Flushing>()
/** What the network said unasked. */
const told: Parameters<Flushing['_handleMessage']>[] = []
const connections = SessionConnection.prototype as unknown as Flushing
const flush = connections._flush
connections._flush = function () {
  flush.call(this)
  if (this.params.isMainConnection) flushed.push(this)
  else ofFiles.add(this)
}

const hear = connections._handleMessage
connections._handleMessage = function (...one) {
  told.push(one)
  hear.apply(this, one)
}

t.test('acknowledgements of Telegram accounts', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  // With a single salt the client asks for more in each packet.
  network.habits.givesSalts = true
  const { person, friend, listen, write, store } = await live(t, stage)
  const { session } = await listen()
  const [connection] = network.connectionsOf(person).filter(({ wantsUpdates }) => wantsUpdates)
  const client = flushed.at(-1)
  if (!connection || !client) throw new Error('There is no connection')
  const { acknowledged } = connection

  await t.test('an answer is acknowledged with the next request', async (t) => {
    const before = { ...acknowledged }
    flushed.length = 0
    await session.probe(patience())
    const asked = flushed.length
    // A second or two later the library looks whether there is something to say.
    await until(() => flushed.length > asked)
    t.ok(client._session.queuedAcks.length > 0, 'they wait')
    await session.probe(patience())
    t.equal(acknowledged.alone, before.alone, 'no packet goes for them alone')
    t.equal(acknowledged.along, before.along + 2)
  })

  await t.test('many are not kept waiting', async () => {
    const before = acknowledged.alone
    for (let i = 0; i < 100; i++) write(`${i}`)
    await store.message('99')
    await until(() => acknowledged.alone > before)
  })

  await t.test('nor old ones', async (t) => {
    await session.probe(patience())
    const before = acknowledged.alone
    client.acksSince -= 75_000
    client._flush()
    await until(() => acknowledged.alone > before)
    t.equal(client._session.queuedAcks.length, 0)
  })

  await t.test('an update that comes again', async (t) => {
    write('once')
    await store.message('once')
    const update = told.findLast(([, { _ }]) => !_.startsWith('mt_'))
    if (!update) throw new Error('There was no update')
    client._session.queuedAcks = []
    client._handleMessage(...update)
    t.strictSame(client._session.queuedAcks, [update[0]])
    t.equal(store.texts().filter((text) => text === 'once').length, 1)
  })

  await t.test('answers that are given again after a cut', async () => {
    await session.probe(patience())
    network.cut(person, 100)
    // All but the answer to the newest request.
    await until(async () => {
      await session.probe(patience())
      const [now] = network.connectionsOf(person).filter(({ wantsUpdates }) => wantsUpdates)
      return now !== undefined && now !== connection && now.unacknowledged <= 1
    })
  })

  await t.test('those of a connection for files, which ends without another word', async (t) => {
    const bytes = randomBytes(300_000)
    const media = { ...stage.file('document', bytes), name: 'a file' }
    const content = { kind: 'media', media, caption: { text: '', entities: [] } } as const
    const { text, media: sent } = stage.outgoing(content)
    network.delivery.send(friend, person, { message: text, media: sent })
    const name = await store.until(() => {
      const happening = store.happenings.find(carries('document'))
      const content = happening?.kind === 'message' ? happening.message.content : undefined
      return content?.kind === 'media' && 'native' in content.media.file
        ? content.media.file.native
        : undefined
    })
    const { stream } = await session.download(name, 0, patience())
    t.ok(Buffer.concat(await Readable.fromWeb(stream as never).toArray()).equals(bytes))
    const open = [...ofFiles].filter(({ _inactive }) => !_inactive)
    t.ok(open.length > 0)
    await until(() => open.every(({ _session }) => _session.queuedAcks.length === 0))
    for (const one of open) {
      clearTimeout(one._inactivityTimeout)
      one._onInactivityTimeout()
      t.ok(one._inactive, 'whatever is asked from now on opens it again')
    }
  })
})
