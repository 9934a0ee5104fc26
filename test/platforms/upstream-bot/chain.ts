/** A gateway behind a gateway: a bot of the sandbox, linked on the outer one by its key of the inner one. */
import type { Test } from 'tap'
import { type Client, until } from '../../support/client.ts'
import { type Service, startService } from '../../support/service.ts'

export interface Chain {
  readonly inner: Service
  readonly outer: Service
  /** Of the user who has the sandbox. */
  readonly near: Client
  /** Of the user who linked the bot. */
  readonly far: Client
  readonly bot: Person
  readonly ada: Person
  /** Of the bot, at the inner gateway: one that was linked, and one to compare with. */
  readonly token: string
  readonly innerKey: string
  readonly tokenId: number
  readonly credentialId: number
  readonly outerKey: string
}

interface Person {
  readonly id: number
  readonly username: string
  readonly phone: string
}

export async function startChain(t: Pick<Test, 'teardown'>): Promise<Chain> {
  const inner = await startService(t)
  const outer = await startService(t, {
    env: { TELEGRAM_BOT_API_URL: inner.url, SANDBOX: 'false' },
  })
  const [near, far] = await Promise.all([inner.client(), outer.client()])
  const bot = await near.person('Bot', 'gatebot')
  const ada = await near.person('Ada', 'ada_l')
  const innerId = await near.link(bot)
  const { key: token, api_key_id: tokenId } = await near.key(innerId)
  const { key: innerKey } = await near.key(innerId)
  const credentialId = await linkBot(far, { token })
  const { key: outerKey } = await far.key(credentialId)
  return { inner, outer, near, far, bot, ada, token, tokenId, innerKey, credentialId, outerKey }
}

/** Resolves with the credential once it is active. */
export async function linkBot(client: Client, fields: object, platform = 'telegram-bot') {
  const linked = await client.result('POST', `/platforms/${platform}/link/start`, fields)
  const { credential_id } = linked.credential
  await client.state(credential_id, 'active')
  return credential_id as number
}

/** Everything that `key` receives until `enough` is true of it. */
export async function receive(
  client: Client,
  key: string,
  enough: (updates: readonly Update[]) => boolean,
): Promise<Update[]> {
  const updates: Update[] = []
  return until(async () => {
    const offset = updates.at(-1)?.update_id
    const { body } = await client.bot(key, 'getUpdates', {
      timeout: 5,
      ...(offset !== undefined && { offset: offset + 1 }),
    })
    updates.push(...(body.result ?? []))
    return enough(updates) && updates
  }, 30_000)
}

export type Update = { readonly update_id: number } & Readonly<Record<string, unknown>>
