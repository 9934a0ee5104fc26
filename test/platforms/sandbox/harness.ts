/** The sandbox as the contract suite drives it: through the hands and the switches of its own people. */
import type { Test } from 'tap'
import type { Message } from '../../../machines/content.ts'
import { createSandbox, type Sandbox } from '../../../src/platforms/sandbox/sandbox.ts'
import { testDatabase } from '../../support/database.ts'
import { quietLog } from '../../support/log.ts'
import type { Account, ContractHarness, Peer, Sight } from '../contract/harness.ts'

const CODE_LIFETIME = 300_000
let registered = 0

export async function sandboxHarness(t: Test): Promise<ContractHarness> {
  const { database: db } = await testDatabase(t)
  let ahead = 0
  const clock = () => Date.now() + ahead
  const sandbox = createSandbox({ db, log: quietLog, clock })
  return {
    platform: sandbox.platform,
    absent: {
      wrongFields: 'a phone number is registered or it is not',
      restartNetwork: 'the sandbox lives inside the service',
    },
    unknownChat: '999999999',
    restarted: () => createSandbox({ db, log: quietLog, clock }).platform,
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

export async function register(sandbox: Sandbox, more: object = {}) {
  registered += 1
  const username = `person_${registered}_${crypto.randomUUID().slice(0, 8)}`
  const [person] = await sandbox.people.create([
    { first_name: `Person ${registered}`, username, ...more },
  ])
  return person!
}

type Registered = Awaited<ReturnType<typeof register>>

function accountOf(sandbox: Sandbox, { id, phone }: Registered, passTime: () => void): Account {
  const { controls, chats, hands, inboxes } = sandbox
  return {
    native: String(id),
    method: 'phone',
    fields: { phone },
    code: async () => (await inboxes.codes(id))[0]!.code,
    expireCode: async () => passTime(),
    writeElsewhere: async (peer, text) => {
      await hands.write(id, { to: Number(peer.chat), text })
    },
    forbiddenChat: async () => {
      const { id: owner } = await register(sandbox)
      const { chat } = await chats.create({ kind: 'supergroup', title: 'Closed', owner })
      return chat.native
    },
    cut: () => controls.put(id, { fault: 'drop' }),
    silence: () => controls.put(id, { fault: 'silence' }),
    unsilence: () => controls.clear(id, 'silence'),
    revoke: () => controls.put(id, { fault: 'revoke' }),
    ban: () => controls.put(id, { fault: 'ban' }),
    replace: () => controls.put(id, { fault: 'replace' }),
    limit: (seconds) => controls.put(id, { fault: 'flood_wait', seconds }),
    repeat: () => controls.put(id, { fault: 'duplicate' }),
    loseAnswer: () => controls.put(id, { fault: 'lose_answers' }),
  }
}

async function peerOf(sandbox: Sandbox, account: number): Promise<Peer> {
  const { hands, inboxes } = sandbox
  const { id, username } = await register(sandbox)
  const place = ({ handle }: Sight) => ({ chat: account, message: Number(handle) })
  const read = () => inboxes.messages(id, { chat: account, limit: 100 })
  const sees = async (text: string, signal: AbortSignal) => {
    for (;;) {
      const found = (await read()).map(sightOf).find((sight) => sight.text === text)
      if (found) return found
      signal.throwIfAborted()
      await nextTurn()
    }
  }
  return {
    chat: String(id),
    publicName: { name: username!, chat: String(id) },
    write: async (text, { replyTo } = {}) =>
      sightOf(
        await hands.write(id, {
          to: account,
          text,
          ...(replyTo && { replyTo: Number(replyTo.handle) }),
        }),
      ),
    edit: async (message, text) => {
      await hands.edit(id, place(message), { text })
    },
    delete: (message) => hands.delete(id, place(message)),
    press: async (message, data, signal) => {
      const { answer } = await hands.press(id, place(message), data, signal)
      return answer ?? {}
    },
    sees,
    seesGone: async ({ handle }, signal) => {
      while ((await read()).some(({ native }) => native === handle)) {
        signal.throwIfAborted()
        await nextTurn()
      }
    },
    seesTyping: async (signal) => {
      while ((await inboxes.typing(id)).length === 0) {
        signal.throwIfAborted()
        await nextTurn()
      }
    },
    count: async (text) => (await read()).filter((message) => textOf(message) === text).length,
  }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

const textOf = ({ content }: Message) => (content.kind === 'text' ? content.text : '')

function sightOf(message: Message): Sight {
  return {
    handle: message.native,
    text: textOf(message),
    ...(message.replyTo && { replyTo: message.replyTo.native }),
    ...(message.forward && { forwarded: true }),
    ...(message.buttons && { buttons: message.buttons }),
  }
}
