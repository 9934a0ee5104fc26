/** The suites in which the owner of accounts on real networks ends: they are back once their bots can send. */
import { until } from '../support/client.ts'
import type { NetworkAccount } from './exclusive.ts'
import type { Stage } from './stage.ts'
import {
  placedOwners,
  RECOVERED_WITHIN_MS,
  type Recovery,
  type Round,
  type Suite,
} from './suite.ts'
import { xmppMissing } from './xmpp.ts'

/** How the node of an account ends. */
const ENDS = ['SIGKILL', 'SIGTERM', 'SIGSTOP'] as const

/** The owner of the first of these accounts ends in one of three ways; each of its accounts is back once its bot can send. */
async function ownerEnds(
  stage: Stage,
  accounts: readonly NetworkAccount[],
  random: () => number,
): Promise<Round> {
  // None of them may be on its way to another node.
  const owners = await placedOwners(stage)
  const [first] = accounts
  const victim = stage.nodes.find(({ name }) => name === owners.get(first?.credentialId ?? 0))
  if (!victim) throw new Error('nobody owns the account')
  const theirs = accounts.filter(({ credentialId }) => owners.get(credentialId) === victim.name)
  const end = ENDS[Math.floor(random() * ENDS.length)] ?? 'SIGKILL'
  const began = performance.now()
  const isFrozen = end === 'SIGSTOP'
  const ended = isFrozen ? victim.process.signal(end) : victim.process.end(end)
  const recoveries = theirs.map(async (own): Promise<Recovery> => {
    const account = own.credentialId
    const isBack = async () => (await stage.owners()).get(account) !== victim.name && own.sends()
    const back = await until(isBack, RECOVERED_WITHIN_MS).catch(() => false)
    return { account, ms: back ? performance.now() - began : Number.POSITIVE_INFINITY }
  })
  const all = await Promise.all(recoveries)
  if (isFrozen) victim.process.signal('SIGCONT')
  await ended
  if (!isFrozen) await victim.start()
  await stage.settled()
  return { recoveries: all, needless: 0 }
}

/** Only one node at a time may speak for the accounts: the next one may only once the former has ended for certain. */
export const exclusive: Suite = {
  name: 'exclusive sessions',
  needs: { exclusive: 3 },
  promisesCalls: false,
  cuts: true,
  round: (stage, random) => ownerEnds(stage, stage.exclusive?.all ?? [], random),
}

/** The accounts are on real servers, Prosody and ejabberd, which keep the messages of an account that is away. */
export const xmpp: Suite = {
  name: 'XMPP',
  needs: { xmpp: 2 },
  missing: xmppMissing,
  promisesCalls: false,
  cuts: true,
  round: (stage, random) => {
    const accounts = stage.xmpp?.all ?? []
    const at = Math.floor(random() * accounts.length)
    return ownerEnds(stage, [...accounts.slice(at), ...accounts.slice(0, at)], random)
  },
}
