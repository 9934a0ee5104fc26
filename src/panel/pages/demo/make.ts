/** Makes the demo: two sandbox people, a linked account, a key and a first message. Each step first looks for what an earlier try left. */
import { call } from '../../api/call.ts'
import { createPerson, type Inbox, type Person, personApi } from '../../api/sandbox.ts'
import type { ApiKey, Credential, LinkSession, RecordPage } from '../../api/types.ts'

/** The names by which a later try finds the demo again, the same in every language. */
const DEMO = 'Demo'
const HELLO = 'Hello, Echo!'

type Step = 'people' | 'account' | 'key' | 'message'
export const steps: readonly Step[] = ['people', 'account', 'key', 'message']

export interface Demo {
  readonly bot?: Person
  readonly visitor?: Person
  readonly account?: Credential
  /** With its secret only if this page has made it. */
  readonly key?: ApiKey & { readonly key?: string }
  readonly messages: Inbox['messages']
}

export const isDone = (demo: Demo): Readonly<Record<Step, boolean>> => ({
  people: demo.bot !== undefined && demo.visitor !== undefined,
  account: demo.account !== undefined,
  key: demo.key !== undefined,
  message: demo.messages.length > 0,
})

/** The existing parts of the demo. */
export async function findDemo(signal?: AbortSignal): Promise<Demo> {
  const { items } = await call<RecordPage<Person>>('GET', '/sandbox/people', {
    query: { limit: 1000 },
    signal,
  })
  const named = (name: string) =>
    items.find(
      ({ first_name, last_name, deactivated, faults }) =>
        first_name === name && last_name === DEMO && !deactivated && !('ban' in faults),
    )
  const [bot, visitor] = [named('Echo'), named('Visitor')]
  const account = bot && (await accountOf(bot, signal))
  const key = account && (await keyOf(account, signal))
  const messages = bot && visitor ? await between(visitor, bot, signal) : []
  return {
    ...(bot && { bot }),
    ...(visitor && { visitor }),
    ...(account && { account }),
    ...(key && { key }),
    messages,
  }
}

/** An account that needs to be linked again is not found: that is the next step. */
async function accountOf({ id, first_name }: Person, signal?: AbortSignal) {
  const query = { platform: 'sandbox', search: first_name, limit: 200 }
  const page = await call<RecordPage<Credential>>('GET', '/platforms/credentials', {
    query,
    signal,
  })
  return page.items.find(({ account, action }) => account.id === id && action !== 'link_again')
}

async function keyOf({ credential_id }: Credential, signal?: AbortSignal) {
  const { items } = await call<RecordPage<ApiKey>>('GET', '/api_keys', {
    query: { credential_id, search: DEMO, revoked: 'false', limit: 100 },
    signal,
  })
  return items.find(({ name }) => name === DEMO)
}

/** The messages of the chat, oldest first. */
export async function between({ id }: Person, bot: Person, signal?: AbortSignal) {
  const { messages } = await call<Inbox>('GET', `/sandbox/people/${id}/inbox`, {
    query: { limit: 50 },
    signal,
  })
  return messages.filter(({ chat }) => chat.id === bot.id).toReversed()
}

/** Makes what is missing, and gives back the whole; after a failure the next call goes on from there. */
export async function makeDemo(): Promise<Demo> {
  const found = await findDemo()
  const bot = found.bot ?? (await createPerson({ first_name: 'Echo', last_name: DEMO }))
  const visitor = found.visitor ?? (await createPerson({ first_name: 'Visitor', last_name: DEMO }))
  const account = found.account ?? (await link(bot))
  const key = await keyFor(account, found.key)
  if (found.messages.length === 0) await personApi(visitor.id).write({ to: bot.id, text: HELLO })
  return { bot, visitor, account, key, messages: await between(visitor, bot) }
}

/** Links the account with the code from the person's inbox. */
async function link({ id, phone }: Person): Promise<Credential> {
  const { session_id } = await call<LinkSession>('POST', '/platforms/sandbox/link/start', {
    body: { method: 'phone', phone },
  })
  const { codes } = await call<Inbox>('GET', `/sandbox/people/${id}/inbox`, { query: { limit: 1 } })
  const { credential } = await call<LinkSession>('POST', '/platforms/sandbox/link/verify', {
    body: { session_id, otp: codes[0]?.code },
  })
  if (!credential) throw new Error('the demo account is not linked')
  return credential
}

/** A secret is shown once only, so a key that is already there gets a new one. */
function keyFor({ credential_id }: Credential, known: ApiKey | undefined) {
  return known
    ? call<ApiKey & { key: string }>('POST', `/api_keys/${known.api_key_id}/rotate`, { body: {} })
    : call<ApiKey & { key: string }>('POST', '/api_keys', {
        body: { name: DEMO, credential_id, scopes: ['bot:send', 'bot:receive'] },
      })
}
