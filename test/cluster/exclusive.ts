/** Accounts of a network that ends a key which two clients use at once: linked at the nodes, and used all the time. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '../support/client.ts'
import { serverKey } from '../support/telegram-dc/crypto.ts'
import type { TelegramNetwork } from '../support/telegram-dc/network.ts'
import type { Person } from '../support/telegram-dc/people.ts'
import { overlapsOf } from './checker.ts'
import type { Testing } from './stage.ts'

/** An account on a network that is not the sandbox. */
export interface NetworkAccount {
  readonly credentialId: number
  /** Whether its bot could send something just now. */
  sends(): Promise<boolean>
}

export interface ExclusiveAccounts {
  readonly all: readonly NetworkAccount[]
  violations(): string[]
}

/** The environment of a node, by its place among them: the network knows it by a number of its own. */
export async function telegramFor(network: TelegramNetwork) {
  const shared = {
    TELEGRAM_ENTRANCE: JSON.stringify(network.entrance),
    TELEGRAM_KEY: (await serverKey()).pem,
  }
  return (at: number) => ({ ...shared, TELEGRAM_CLIENT: `${1_001 + at}` })
}

const EVERY_MS = 300

async function openAccount(client: Client, network: TelegramNetwork) {
  const [person, friend] = [network.person(), network.person()]
  const path = '/platforms/telegram/link'
  const { session_id } = await client.result('POST', `${path}/start`, { phone: `+${person.phone}` })
  const answer = { session_id, otp: person.code }
  const { credential } = await client.result('POST', `${path}/verify`, answer)
  const credentialId: number = credential.credential_id
  await client.state(credentialId, 'active')
  const { key } = await client.key(credentialId)
  let texts = 0
  const sends = async () => {
    const parameters = { chat_id: friend.id, text: `text ${++texts}` }
    const answer = await client.bot(key, 'sendMessage', parameters).catch(() => undefined)
    return answer?.body.ok === true
  }
  return { credentialId, person, friend, sends }
}

export async function openExclusive(
  t: Testing,
  client: Client,
  network: TelegramNetwork,
  count: number,
): Promise<ExclusiveAccounts> {
  const all: Awaited<ReturnType<typeof openAccount>>[] = []
  for (let n = 0; n < count; n++) all.push(await openAccount(client, network))
  const over = new AbortController()
  const use = async (person: Person, friend: Person, sends: () => Promise<boolean>) => {
    while (!over.signal.aborted) {
      network.delivery.send(friend, person, { message: 'something to confirm' })
      await sends()
      await pause(EVERY_MS)
    }
  }
  const using = all.map(({ person, friend, sends }) => use(person, friend, sends))
  t.teardown(async () => {
    over.abort()
    await Promise.all(using)
  })
  return {
    all,
    violations: () =>
      all.flatMap(({ person, credentialId }) =>
        overlapsOf({
          name: `account ${credentialId} of Telegram`,
          sessions: network.sessionsOf(person),
          isKeyEnded: network.isDuplicated(person),
        }),
      ),
  }
}
