/** Which states an account is out in: getUpdates says why in each of them, and in no other. */
import t from 'tap'
import { out } from '../../../machines/credential/refusals.ts'
import { places } from './rig.ts'

const OUT = ['logged_out', 'invalid', 'failed', 'deactivated']

t.test('every state that is shown as out has its reason and remedy', async (t) => {
  const seen = new Set<string>()
  for (const [place, arrive] of Object.entries(places)) {
    const [path] = Object.entries(arrive().snapshot.getMeta()).at(-1) ?? ['']
    const state = path.slice('credential.'.length)
    const { state: shown } = arrive().meta as { state: string }
    t.equal(out[state] !== undefined, OUT.includes(shown), place)
    if (out[state]) seen.add(state)
  }
  t.same([...seen].sort(), Object.keys(out).sort(), 'and nothing else stands in the table')
  for (const { code, description } of Object.values(out)) {
    t.equal(code, 'forbidden')
    t.match(description, /^[^;]+; [^;]+$/, 'what happened; what to do')
  }
})
