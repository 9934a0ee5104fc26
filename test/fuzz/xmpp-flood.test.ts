/** Ten thousand messages for an account that was away: each once, in order, and never many at a time. */
import t from 'tap'
import { run, says } from '../platforms/contract/recorder.ts'
import { Network } from '../platforms/xmpp/network.ts'
import { scene } from '../platforms/xmpp/scene.ts'
import { prosodyMissing } from '../support/prosody.ts'

const count = 10_000

/** The server takes two milliseconds for each, and on a busy machine many times that. */
const patience = () => AbortSignal.timeout(20_000 + count * 12)

t.test('XMPP flood', { skip: prosodyMissing ?? false }, async (t) => {
  const network = await Network.start(t, { quickArchive: true })

  await t.test('all that waited is reported once, in order, page by page', async (t) => {
    const { account, friend, platform, store, first } = await scene(t, network)
    await first.stop()
    friend.flood(account.jid, count)
    const id = friend.send(friend.jid, 'done')
    await friend.sees((seen) => seen.id === id, patience())

    let largest = 0
    const commit = store.commit.bind(store)
    store.commit = (happenings, checkpoint) => {
      largest = Math.max(largest, happenings.length)
      commit(happenings, checkpoint)
    }
    const began = performance.now()
    const again = run(platform, store)
    t.teardown(() => again.stop())
    const last = `number ${count - 1}`
    const isThere = () => store.happenings.some((happening) => says(happening, 'message', last))
    await store.until(() => isThere() || undefined, patience())
    t.comment(`${Math.round(performance.now() - began)} ms`)
    const texts = store.texts().slice(1)
    t.equal(texts.length, count)
    t.ok(texts.every((text, index) => text === `number ${index}`))
    // The archive is read from a little before where the reading ended: those few are known by their keys.
    const twice = store.reported.length - (count + 1)
    t.ok(twice >= 0 && twice <= 100, `${twice} were reported twice`)
    t.ok(largest <= 100, `at most ${largest} at a time`)
    t.notOk(again.reports.some(([report]) => report === 'lost'))
  })
})
