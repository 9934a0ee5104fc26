/** How a node learns that it lost accounts, and asks how their sessions end. */
import t, { type Test } from 'tap'
import type { Lease } from '../../actors/node/lease.ts'
import type { CredentialFacts, LostCredential, Owned } from '../../actors/ports/ports.ts'
import { Ownership } from '../../src/credentials/ownership.ts'
import { factsOf } from '../actors/credential/rig.ts'
import { settled } from '../support/clock.ts'
import { FakeLogger, only } from '../support/fakes.ts'

/** A node with these accounts, each under the epoch 3. */
function node(t: Test, ...ids: readonly number[]) {
  const held = new Map<number, CredentialFacts>(ids.map((id) => [id, factsOf(id)]))
  const logger = new FakeLogger()
  const scene = {
    held,
    logger,
    /** What the database answers. */
    fenced: [] as readonly LostCredential[],
    isAway: false,
    /** Whether the next question gets no answer. */
    isSilent: false,
    asked: [] as number[][],
    now: 0,
    /** How long each answer takes. */
    takesMs: [] as number[],
    confirmed: [] as number[],
    /** How sessions ended, by account. */
    signedOut: new Map<number, boolean>(),
    dropped: [] as number[],
  }
  const ownership = new Ownership({
    store: {
      fenced: async (owned: readonly Owned[]) => {
        scene.asked.push(owned.map(({ credentialId }) => credentialId))
        scene.now += scene.takesMs.shift() ?? 0
        if (scene.isSilent) {
          scene.isSilent = false
          await new Promise(() => undefined)
        }
        if (scene.isAway) throw new Error('the database does not answer')
        return scene.fenced
      },
    },
    supervisor: {
      owned: () => held.values(),
      factsOf: (id) => held.get(id),
      lose({ credentialId }, signsOut = false) {
        if (!held.delete(credentialId)) return false
        Promise.resolve(signsOut).then((is) => scene.signedOut.set(credentialId, is))
        return true
      },
    },
    lease: only<Lease>(t, 'Lease', {
      now: () => scene.now,
      isValid: true,
      confirmed: (askedAt) => void scene.confirmed.push(askedAt),
    }),
    logger,
    lost: (some) => scene.dropped.push(...some),
  })
  return { scene, ownership }
}

const lost = (credentialId: number, signsOut?: boolean): LostCredential => ({
  credentialId,
  epoch: 3,
  ...(signsOut !== undefined && { signsOut }),
})

t.test('the check finds accounts lost, and how their sessions end, in one question', async (t) => {
  const { scene, ownership } = node(t, 1, 2, 3)
  scene.fenced = [lost(1, true), lost(2, false)]
  await ownership.check()
  await settled()
  t.same(scene.asked, [[1, 2, 3]])
  t.same(
    [...scene.signedOut],
    [
      [1, true],
      [2, false],
    ],
  )
  t.same([...scene.held.keys()], [3])
  t.same(scene.dropped, [1, 2])
})

t.test('an answer that took long is followed by the next question at once', async (t) => {
  const { scene, ownership } = node(t, 1)
  scene.takesMs = [8_000, 3_000, 10]
  await ownership.check()
  t.same(scene.confirmed, [0, 8_000, 11_000])
  scene.isAway = true
  scene.takesMs = [8_000, 10]
  await ownership.check()
  t.equal(scene.asked.length, 5, 'also one that did not come')
  t.equal(scene.confirmed.length, 3)
  scene.takesMs = [8_000]
  ownership.stop()
  await ownership.check()
  t.equal(scene.asked.length, 5)
})

t.test(
  'a question without an answer is asked once more, and confirms from its first time',
  async (t) => {
    const { scene, ownership } = node(t, 1)
    scene.isSilent = true
    scene.takesMs = [0, 400]
    await ownership.check()
    t.same(scene.asked, [[1], [1]])
    t.same(scene.confirmed, [0])
  },
)

t.test('whoever finds accounts lost without a reason has the database asked, once', async (t) => {
  const { scene, ownership } = node(t, 1, 2)
  scene.fenced = [lost(1, true), lost(2, false)]
  ownership.lost([lost(1), lost(2)])
  t.same(scene.dropped, [1, 2], 'at once, whatever the answer is')
  ownership.lost([lost(1), lost(2)])
  t.same(ownership.letGo([lost(1)]), [])
  scene.held.set(1, factsOf(1, { epoch: 4 }))
  t.same(ownership.letGo([lost(1)]), [], 'it was claimed back')
  await settled()
  t.same(scene.asked, [[1, 2]])
  t.same(
    [...scene.signedOut],
    [
      [1, true],
      [2, false],
    ],
  )
  t.same(scene.logger.warnings, ['another node took credentials over'])
})

t.test('what an owner gives away is not signed out, unless it was linked again', async (t) => {
  const { scene, ownership } = node(t, 1, 2)
  scene.fenced = [lost(2, true)]
  t.same(ownership.letGo([lost(1), lost(2)]), [1, 2])
  await settled()
  t.same(
    [...scene.signedOut],
    [
      [1, false],
      [2, true],
    ],
  )
})

t.test('a hint of a new link needs no question, and an old one says nothing', async (t) => {
  const { scene, ownership } = node(t, 1)
  ownership.relinked(1, 3)
  ownership.relinked(2, 9)
  t.same(scene.dropped, [])
  ownership.relinked(1, 4)
  await settled()
  t.same(scene.asked, [])
  t.same([...scene.signedOut], [[1, true]])
  t.same(scene.dropped, [1])
})

t.test('without an answer the session of a takeover is not signed out', async (t) => {
  const { scene, ownership } = node(t, 1)
  scene.isAway = true
  ownership.lost([lost(1)])
  await settled()
  t.same([...scene.signedOut], [[1, false]])
  t.same(
    scene.logger.warnings,
    [
      'sessions of earlier links may stay signed in: the database did not answer',
      'another node took credentials over',
    ].toReversed(),
  )
})
