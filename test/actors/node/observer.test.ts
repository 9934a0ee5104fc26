/** Whom a node takes for gone: counted in its own successful beats, with the lock as a second sign. */
import t from 'tap'
import { type NodeRow, Observer } from '../../../actors/node/observer.ts'
import { nodeRow } from './rig.ts'

const row = (incarnation: number, beats: number, isLocked = true) =>
  nodeRow(incarnation, { state: 'up', beats, isLocked })

/** The own beats after which the peer is declared gone; undefined where it is not within `most`. */
function declaredAfter(observer: Observer, peer: NodeRow, most = 60) {
  for (let beat = 1; beat <= most; beat++) {
    const [verdict] = observer.saw([row(1, beat), peer], 1, 0)
    if (verdict) return { beat, cause: verdict.cause }
  }
  return undefined
}

/** It has seen the peer once, `beats` old. */
function watching(peer: NodeRow, areLocksNew = true) {
  const observer = new Observer(areLocksNew)
  observer.saw([row(1, 0), peer], 1, 0)
  return observer
}

t.test('a peer whose lock is free and that does not beat has crashed', async (t) => {
  const observer = watching(row(2, 5))
  t.same(declaredAfter(observer, row(2, 5, false)), { beat: 3, cause: 'crashed' })
})

t.test(
  'a peer that joins has no lock yet, and is declared gone only after forty beats',
  async (t) => {
    const joining = { ...row(2, 0, false), state: 'joining' as const }
    t.same(declaredAfter(watching(joining), joining), { beat: 40, cause: 'silent' })
  },
)

t.test('a peer whose lock is held is declared gone only after forty beats', async (t) => {
  t.same(declaredAfter(watching(row(2, 5)), row(2, 5)), { beat: 40, cause: 'silent' })
})

t.test('a peer that beats is alive, whatever its lock says', async (t) => {
  const observer = watching(row(2, 0, false))
  for (let beat = 1; beat < 200; beat++) {
    t.same(observer.saw([row(1, beat), row(2, Math.floor(beat / 2), false)], 1, 0), [])
  }
})

t.test('a node never judges itself', async (t) => {
  const observer = new Observer(true)
  for (let beat = 0; beat < 100; beat++) t.same(observer.saw([row(1, 5, false)], 1, 0), [])
})

t.test('after a gap all counts begin anew, and locks say nothing for twenty beats', async (t) => {
  const silent = watching(row(2, 5))
  t.equal(declaredAfter(silent, row(2, 5), 39), undefined)
  silent.interrupted()
  t.same(declaredAfter(silent, row(2, 5)), { beat: 40, cause: 'silent' })
  const crashed = watching(row(2, 5))
  crashed.interrupted()
  t.same(declaredAfter(crashed, row(2, 5, false)), { beat: 20, cause: 'crashed' })
})

t.test('a database that restarts frees all locks, and nobody is declared gone', async (t) => {
  const observer = watching(row(2, 5))
  observer.interrupted()
  // The peer comes back a moment later than this node.
  t.equal(declaredAfter(observer, row(2, 5, false), 4), undefined)
  t.equal(declaredAfter(observer, row(2, 6, true), 30), undefined)
})

t.test(
  'a node that joins after such a restart trusts only a lock that it has seen held',
  async (t) => {
    const observer = watching(row(2, 5, false))
    t.equal(declaredAfter(observer, row(2, 5, false), 18), undefined)
    t.same(declaredAfter(observer, row(2, 5, false)), { beat: 1, cause: 'crashed' })
    const interrupted = watching(row(2, 5))
    interrupted.interrupted()
    // The peer has taken its lock again, and crashes after that.
    interrupted.saw([row(1, 1), row(2, 6)], 1, 0)
    t.same(declaredAfter(interrupted, row(2, 6, false)), { beat: 3, cause: 'crashed' })
  },
)

t.test('a node that joins long after a restart trusts every lock at once', async (t) => {
  const observer = watching(row(2, 5, false), false)
  t.same(declaredAfter(observer, row(2, 5, false)), { beat: 3, cause: 'crashed' })
  const interrupted = watching(row(2, 5), false)
  interrupted.interrupted()
  t.same(declaredAfter(interrupted, row(2, 5, false)), { beat: 20, cause: 'crashed' })
})

t.test('the age of a beat is shown as this node has seen it', async (t) => {
  const observer = new Observer(true)
  observer.saw([row(2, 5)], 1, 1_000)
  observer.saw([row(2, 5)], 1, 1_250)
  t.match(observer.view(1_400), [{ incarnation: 2, beatAgeMs: 400 }])
  observer.saw([row(2, 6)], 1, 1_500)
  t.match(observer.view(1_600), [{ beatAgeMs: 100 }])
  observer.saw([], 1, 1_750)
  t.same(observer.view(1_800), [], 'a peer that has ended is forgotten')
})

t.test('the last beat of a node is remembered by its name for an hour after its end', async (t) => {
  const observer = new Observer(true)
  observer.saw([row(1, 0), row(2, 5)], 1, 1_000)
  observer.saw([row(1, 1), row(2, 5)], 1, 2_000)
  t.equal(observer.silentMs('node-2', 2_000), 1_000)
  observer.saw([row(1, 2)], 1, 4_000)
  t.equal(observer.silentMs('node-2', 4_000), 3_000)
  t.equal(observer.silentMs('node-3', 4_000), undefined)
  observer.saw([row(1, 3)], 1, 3_602_000)
  t.equal(observer.silentMs('node-2', 3_602_000), undefined)
})
