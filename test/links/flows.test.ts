/** Link flows: which of them another process can go on with. */
import t from 'tap'
import { OPEN_STATES } from '../../machines/link/events.ts'
import { resumable } from '../../src/links/flows.ts'
import { LinkRig } from '../actors/link/rig.ts'
import { refused } from '../actors/refused.ts'

t.test('a flow that only its first process could go on with is over in any other', async (t) => {
  const rig = new LinkRig(t)
  for (const state of OPEN_STATES) {
    t.equal(resumable(rig.facts({ state, stored: null })).state, 'expired')
    t.equal(resumable(rig.facts({ state })).state, state)
  }
  t.equal(resumable(rig.facts({ state: 'linked', stored: null })).state, 'linked')
  const actor = rig.begin(resumable(rig.facts({ stored: null })))
  await refused(t, actor.ask({ type: 'link.verify', code: '12345' }), {
    description: 'the link session is over; start again',
  })
})
