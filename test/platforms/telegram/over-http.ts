/** An account of the test network, linked over HTTP as a user does it. */
import type { Client } from '../../support/client.ts'
import type { Person } from '../../support/telegram-dc/people.ts'

export async function linkOver(
  client: Client,
  person: Person,
): Promise<{ readonly credentialId: number; readonly key: string }> {
  const { session_id } = await client.result('POST', '/platforms/telegram/link/start', {
    phone: `+${person.phone}`,
  })
  const linked = await client.result('POST', '/platforms/telegram/link/verify', {
    session_id,
    otp: person.code,
  })
  const credentialId: number = linked.credential.credential_id
  await client.state(credentialId, 'active')
  const { key } = await client.key(credentialId)
  return { credentialId, key }
}
