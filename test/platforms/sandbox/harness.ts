/** The sandbox as the contract suite drives it: through the actions and the faults of its own people. */
import type { Test } from 'tap'
import { testDatabase } from '../../support/database.ts'
import { fileDesk, fileOwner, fileToSend } from '../../support/files.ts'
import { quietLogger } from '../../support/logger.ts'
import type { Account, ContractHarness } from '../contract/harness.ts'
import { type OwnedSandbox, ownedSandbox } from './owned.ts'
import { peerOf } from './peer.ts'
import { placesIn } from './places.ts'
import { register } from './register.ts'

const CODE_LIFETIME = 300_000

export async function sandboxHarness(t: Test): Promise<ContractHarness> {
  const { database: db } = await testDatabase(t)
  let ahead = 0
  const clock = () => Date.now() + ahead
  const media = await fileDesk(t, db)
  const owner = await fileOwner(db)
  const create = () => ownedSandbox({ db, logger: quietLogger, media, clock }, owner)
  const sandbox = create()
  return {
    platform: sandbox.platform,
    absent: {
      wrongFields: 'a phone number is registered or it is not',
      emptyFiles: 'the sandbox takes no empty files, as the reference',
      restartNetwork: 'the sandbox lives inside the service',
    },
    unknownChat: '999999999',
    file: (kind, bytes) => fileToSend(media, owner, kind, bytes),
    ...placesIn(sandbox, () => fileToSend(media, owner, 'sticker')),
    restarted: () => create().platform,
    account: async ({ secondFactor } = {}) => {
      const person = await register(sandbox, {
        ...(secondFactor && { password: secondFactor.password }),
        ...(secondFactor?.hint && { password_hint: secondFactor.hint }),
      })
      return accountOf(sandbox, person, () => {
        ahead += CODE_LIFETIME + 1_000
      })
    },
    peer: async (account) => peerOf(sandbox, Number(account.native)),
  }
}

type Registered = Awaited<ReturnType<typeof register>>

function accountOf(
  sandbox: OwnedSandbox,
  { id, phone }: Registered,
  passTime: () => void,
): Account {
  const { faults, chats, actions, inboxes } = sandbox
  return {
    native: String(id),
    method: 'phone',
    fields: { phone },
    code: async () => (await inboxes.codes(id))[0]!.code,
    expireCode: async () => passTime(),
    writeElsewhere: async (peer, text) => {
      await actions.write(id, { to: Number(peer.chat), text })
    },
    forbiddenChat: async () => {
      const { id: owner } = await register(sandbox)
      const { chat } = await chats.create({ kind: 'supergroup', title: 'Closed', owner })
      return chat.native
    },
    cut: () => faults.put(id, { fault: 'drop' }),
    silence: () => faults.put(id, { fault: 'silence' }),
    unsilence: () => faults.clear(id, 'silence'),
    revoke: () => faults.put(id, { fault: 'revoke' }),
    ban: () => faults.put(id, { fault: 'ban' }),
    replace: () => faults.put(id, { fault: 'replace' }),
    limit: (seconds) => faults.put(id, { fault: 'flood_wait', seconds }),
    repeat: () => faults.put(id, { fault: 'duplicate' }),
    loseAnswer: () => faults.put(id, { fault: 'lose_answers' }),
  }
}
