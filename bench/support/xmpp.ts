/** Accounts of XMPP that are linked as the service links them. */
import { createHash, pbkdf2Sync } from 'node:crypto'
import { xmppPlatform } from '../../src/platforms/xmpp/platform.ts'
import { MemoryRooms } from '../../test/platforms/xmpp/kept-rooms.ts'
import { quietLogger } from '../../test/support/logger.ts'
import { type Prosody, seededSalt } from '../../test/support/prosody.ts'
import type { SeedAccount } from './seed.ts'

const LINKING_MS = 60_000
const noFiles = () => Promise.reject(new Error('no files here'))
const platform = xmppPlatform({
  logger: quietLogger,
  allowPrivate: true,
  media: { open: noFiles, facts: noFiles },
  rooms: new MemoryRooms(),
})

/** As they are stored after their first login, by the names of accounts that `seed` gave to the server. */
export function accountsOf(
  { domain, server }: Prosody,
  users: readonly string[],
  password: string,
): SeedAccount[] {
  const { digest, salt, iterations } = seededSalt
  const salted = {
    digest,
    salt: Buffer.from(salt).toString('base64'),
    iterations,
    passwordHash: createHash('sha256').update(password).digest('base64'),
    key: pbkdf2Sync(password, salt, iterations, 20, digest).toString('base64'),
  }
  return users.map((user) => {
    const jid = `${user}@${domain}`
    const secrets = { jid, password, resource: `chapar-${user}`, server, salted }
    return { native: jid, firstName: user, secrets, owner: 'bench' }
  })
}

/** Resolves with what linking leaves to be stored. */
export async function linkXmpp(
  { domain, server }: Prosody,
  user: string,
  password: string,
): Promise<SeedAccount> {
  const jid = `${user}@${domain}`
  const signal = AbortSignal.timeout(LINKING_MS)
  const { step } = await platform.startLink('password', { jid, password, server }, signal)
  if (step.kind !== 'done' || typeof step.secrets !== 'object' || step.secrets === null) {
    throw new Error(`${jid} was not linked: ${JSON.stringify(step)}`)
  }
  const { native, firstName } = step.account
  return { native, firstName, secrets: step.secrets, owner: 'bench' }
}
