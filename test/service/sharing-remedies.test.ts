/** What a test and a diagnosis tell those to do who have only a share of the account. */
import t from 'tap'
import { type Client, until } from '../support/client.ts'
import { phones, sharingRig } from './sharing-rig.ts'

const { owner, developer, person, path, share, keyOf } = await sharingRig(t)
await share(developer, phones.developer, 'developer')
const { api_key_id } = await keyOf(owner)

const ASK = 'Ask the owner of the account, since a share does not allow it: '

/** The remedies of the test and of the diagnosis, and the code of the cause. */
async function told(client: Client) {
  const { checks } = await client.result('POST', `${path}/test`)
  const { cause, next_action, steps } = await client.result(
    'POST',
    `/api_keys/${api_key_id}/diagnosis`,
    { all: true },
  )
  const remedyOf = (all: { remedy: string | null }[]) => all.find(({ remedy }) => remedy)?.remedy
  return [cause.code, remedyOf(checks), remedyOf(steps), next_action]
}

const faults = `/sandbox/people/${person.id}/faults`

async function isOut(fault: string, state: string, details: object = {}) {
  await owner.result('PUT', `${faults}/${fault}`, details)
  await until(async () => (await owner.result('GET', path)).state === state)
}

t.test('what passes by itself is told to all alike', async (t) => {
  await isOut('flood_wait', 'degraded', { seconds: 60 })
  const wait = 'Wait until the restriction ends, and send less'
  const [code, , ...remedies] = await told(developer)
  t.same([code, ...remedies], ['flood_wait', wait, wait])
  await owner.result('DELETE', faults)
})

t.test('what only the owner may do is theirs to be asked for', async (t) => {
  const restart =
    'It is tried once more after five minutes. End the other client, then link again or restart. Restart it with POST /platforms/credentials/{credential_id}/restart'
  const link = 'Link the account again with POST /platforms/{platform}/link/start'
  for (const [fault, state, code, remedy] of [
    ['revoke', 'logged_out', 'session_revoked', link],
    ['replace', 'failed', 'replaced_elsewhere', restart],
  ] as const) {
    await isOut(fault, state)
    t.same(await told(owner), [code, remedy, remedy, remedy])
    const asked = `${ASK}${remedy}`
    t.same(await told(developer), [code, asked, asked, asked])
    await owner.link(person)
  }
})
