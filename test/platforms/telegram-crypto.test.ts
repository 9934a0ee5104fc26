/** What the clients of all accounts share: the library's compiled part, and how they hash. Runs alone: no other file may have read that part. */
import files from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import t from 'tap'

/** How reads of the compiled part end. The library takes `readFile` as it is when it is imported, so it is imported below. */
let outcome: 'failure' | 'a part' | 'success' = 'failure'
let reads = 0
const readFile = files.readFile.bind(files)
Object.assign(files, {
  async readFile(...asked: Parameters<typeof readFile>) {
    if (!`${asked[0]}`.endsWith('.wasm')) return readFile(...asked)
    reads++
    if (outcome === 'failure') throw new Error('so many files are open')
    const whole = await readFile(...asked)
    return outcome === 'a part' ? whole.slice(0, whole.length / 2) : whole
  },
})
syncBuiltinESMExports()

const { NodeCryptoProvider } = await import('@mtcute/node/utils.js')
const { createClient } = await import('../../src/platforms/telegram/client.ts')
const { noPeers } = await import('../../src/platforms/telegram/storage/peers.ts')
const { SessionStorage } = await import('../../src/platforms/telegram/storage/session-storage.ts')
const { UpdateState } = await import('../../src/platforms/telegram/storage/update-state.ts')

const application = { id: 1, hash: 'of nobody' }
const create = () =>
  createClient({
    application,
    storage: new SessionStorage({ state: new UpdateState(null), peers: noPeers }),
    updates: false,
    defect: t.error,
  })

t.test('the compiled part is read once for all accounts, and again after a failure', async (t) => {
  const begin = () =>
    Promise.allSettled(Array.from({ length: 3 }, async () => create().mt.crypto.initialize?.()))
  const failed = (await begin()).map((result) => 'reason' in result && result.reason.message)
  t.strictSame(failed, Array(3).fill('so many files are open'))
  outcome = 'a part'
  const broken = (await begin()).map(({ status }) => status)
  t.strictSame(broken, Array(3).fill('rejected'))
  outcome = 'success'
  const succeeded = (await begin()).map(({ status }) => status)
  t.strictSame(succeeded, Array(3).fill('fulfilled'))
  t.equal(reads, 3)
  await create().prepare()
  t.equal(reads, 3, 'an account that comes later does not read it')
})

t.test("hashes are the library's own", async (t) => {
  const { crypto } = create().mt
  const usual = new NodeCryptoProvider()
  for (const bytes of [0, 1, 20, 1_000]) {
    const data = usual.randomBytes(bytes)
    t.same(crypto.sha1(data), usual.sha1(data))
    t.same(crypto.sha256(data), usual.sha256(data))
  }
})
