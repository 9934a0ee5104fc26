/** New people of the sandbox, each with a public name that nobody else has. */
import type { Network } from '../../../src/sandbox/sandbox.ts'

let registered = 0

export async function register(sandbox: Pick<Network, 'people'>, more: object = {}) {
  registered += 1
  const username = `person_${registered}_${crypto.randomUUID().slice(0, 8)}`
  const [person] = await sandbox.people.create([
    { first_name: `Person ${registered}`, username, ...more },
  ])
  return person!
}
