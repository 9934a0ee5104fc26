/** The service on the test network, and an account that is linked over HTTP as a user does it. */
import type { Client } from '../../support/client.ts'
import { type Service, type ServiceOptions, startService } from '../../support/service.ts'
import type { Person } from '../../support/telegram-dc/people.ts'
import type { Stage } from './stage.ts'

/** A service that sends the files it stores: its platform is made before it. */
export async function serviceOver(
  t: Parameters<typeof startService>[0],
  stage: Stage,
  env: NonNullable<ServiceOptions['env']> = {},
): Promise<Service> {
  let service: Service | undefined
  const media = {
    open: async (blob: string) => {
      if (!service) throw new Error('the service is not there yet')
      return service.gateway.media.service.open(blob)
    },
  }
  service = await startService(t, { platforms: [stage.platform({ media })], env })
  return service
}

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
