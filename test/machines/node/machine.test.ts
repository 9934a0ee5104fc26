/** The life of a node: what each event does in each of its states. */
import t from 'tap'
import { type NodeEvent, nodeMachine } from '../../../machines/node/machine.ts'
import { Walk } from '../walk.ts'

const joined: NodeEvent = { type: 'node.joined' }
const notJoined: NodeEvent = { type: 'join.failed' }
const answered: NodeEvent = { type: 'beat.answered', tookMs: 100 }
const refused: NodeEvent = { type: 'beat.refused' }
const drain: NodeEvent = { type: 'node.drain' }
const leave: NodeEvent = { type: 'node.leave' }
const events = [joined, notJoined, answered, refused, drain, leave]

const begin = (...events: NodeEvent[]) =>
  new Walk<NodeEvent>(nodeMachine, undefined).send(...events)

const asking = 'joining.asking'
const [up, suspended, draining] = ['member.up', 'member.suspended', 'member.draining']

/** By state: how it is reached, and the next state for each of `events`. */
const table: Record<string, { reach: () => Walk<NodeEvent>; next: readonly string[] }> = {
  [asking]: {
    reach: () => begin(),
    next: [up, 'joining.waiting', asking, asking, asking, 'left'],
  },
  'joining.waiting': {
    reach: () => begin(notJoined),
    next: [...Array(5).fill('joining.waiting'), 'left'],
  },
  [up]: { reach: () => begin(joined), next: [up, up, up, 'gone', draining, 'left'] },
  [suspended]: {
    reach: () => begin(joined).elapse('lease'),
    next: [suspended, suspended, up, 'gone', draining, 'left'],
  },
  [draining]: {
    reach: () => begin(joined, drain),
    next: [draining, draining, draining, 'gone', draining, 'left'],
  },
  left: { reach: () => begin(leave), next: Array(6).fill('left') },
  gone: { reach: () => begin(joined, refused), next: Array(6).fill('gone') },
}

for (const [state, { reach, next }] of Object.entries(table)) {
  t.test(`${state}: every event`, async (t) => {
    t.equal(reach().state, state)
    for (const [place, event] of events.entries()) {
      t.equal(reach().send(event).state, next[place], event.type)
    }
  })
}

t.test('it beats as long as it is a member', async (t) => {
  const walk = begin()
  t.same(walk.running, ['join'])
  t.same(walk.send(joined).running, ['beat'])
  t.same(walk.elapse('lease').running, ['beat'], 'suspended, too')
  t.same(walk.send(drain).running, ['beat'], 'and while it drains')
  t.same(walk.send(leave).running, [])
})

t.test('a beat holds for seven seconds from when it was sent', async (t) => {
  const walk = begin(joined)
  t.same(walk.timers, { lease: 7_000 })
  t.same(walk.send(answered).timers, { lease: 6_900 })
  t.equal(walk.elapse('lease').state, suspended)
  t.same(walk.timers, {})
  t.equal(walk.send(answered).state, up)
})

t.test('a node that could not join tries again', async (t) => {
  const walk = begin(notJoined)
  t.same(walk.timers, { again: 250 })
  t.equal(walk.elapse('again').state, asking)
})
