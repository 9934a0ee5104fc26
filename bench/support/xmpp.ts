/** Accounts of XMPP that are linked as the service links them. */
import { xmppPlatform } from '../../src/platforms/xmpp/platform.ts'
import { MemoryRooms } from '../../test/platforms/xmpp/kept-rooms.ts'
import { quietLogger } from '../../test/support/logger.ts'
import type { Prosody } from '../../test/support/prosody.ts'
import type { SeedAccount } from './seed.ts'

const LINKING_MS = 60_000
const noFiles = () => Promise.reject(new Error('no files here'))
const platform = xmppPlatform({
  logger: quietLogger,
  allowPrivate: true,
  media: { open: noFiles, facts: noFiles },
  rooms: new MemoryRooms(),
})

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
