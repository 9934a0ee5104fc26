/** The supervision of actors that begin on demand: when one that crashed may begin again. */
import t from 'tap'
import { supervisionMachine } from '../../../machines/supervision/machine.ts'
import { Walk } from '../walk.ts'

interface Crashed {
  readonly type: 'actor.crashed'
  readonly at: number
}

const crashed = (at: number): Crashed => ({ type: 'actor.crashed', at })
const begin = () => new Walk<Crashed>(supervisionMachine, undefined)

t.test('an actor that crashed rests, longer after each crash', async (t) => {
  const walk = begin()
  for (const [place, rest] of [1_000, 2_000, 4_000, 8_000].entries()) {
    t.equal(walk.send(crashed(place)).state, 'crashed')
    t.same(walk.timers, { crashRest: rest })
    t.equal(walk.elapse('crashRest').state, 'running')
  }
})

t.test('the fifth crash within a minute gives it up for a while', async (t) => {
  const walk = begin().send(...[1, 2, 3, 4, 5].map(crashed))
  t.equal(walk.state, 'failed')
  t.same(walk.timers, { tryAgain: 300_000 })
  t.equal(walk.elapse('tryAgain').state, 'running')
})

t.test('crashes of more than a minute ago do not count', async (t) => {
  const walk = begin().send(...[0, 1, 2, 3].map(crashed))
  t.equal(walk.elapse('crashRest').send(crashed(60_003)).state, 'crashed')
  t.same(walk.timers, { crashRest: 1_000 })
  walk.elapse('crashRest')
  t.equal(walk.elapse('forget').state, 'forgotten')
})
