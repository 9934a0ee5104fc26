/** What most tests of the whole service begin with: a linked account with a key, and somebody to talk to. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { checkAnswer } from '../support/reference-check.ts'
import { type Service, type ServiceOptions, startService } from '../support/service.ts'
import { joinService, type SharedService } from '../support/shared-service.ts'

interface Testing {
  teardown(work: () => Promise<void> | void): void
}

/** On the service that tests share, or with `options` on one of its own. */
export async function scene(
  t: Testing,
): Promise<{ readonly service: SharedService } & LinkedAccount>
export async function scene(
  t: Testing,
  options: ServiceOptions,
): Promise<{ readonly service: Service } & LinkedAccount>
export async function scene(t: Testing, options?: ServiceOptions) {
  const service = options ? await startService(t, options) : await joinService(t)
  return { service, ...(await linkedAccount(service)) }
}

type LinkedAccount = Awaited<ReturnType<typeof linkedAccount>>

/** The bot is reached as `@<name>`, and Ada as `@<name>_friend`. */
export async function linkedAccount(service: SharedService, name = 'gatebot', phone?: string) {
  const client = await service.client(phone)
  const bot = await client.person('Bot', name)
  const ada = await client.person('Ada', `${name}_friend`)
  const credentialId = await client.link(bot)
  const { key, api_key_id: keyId } = await client.key(credentialId)
  return { client, bot, ada, credentialId, key: key as string, keyId: keyId as number }
}

/** An account with the switches to make its network misbehave, and a look at what it shows then. */
export async function troubledAccount(service: SharedService, name: string) {
  const account = await linkedAccount(service, name)
  const { client, bot, ada, credentialId, key } = account
  const path = `/platforms/credentials/${credentialId}`
  const faults = `/sandbox/people/${bot.id}/faults`
  return {
    ...account,
    path,
    fault: (fault: string, details: object = {}) =>
      client.result('PUT', `${faults}/${fault}`, details),
    clear: () => client.result('DELETE', faults),
    record: () => client.result('GET', path),
    state: (state: string) => client.state(credentialId, state),
    send: (text = 'hi') => client.bot(key, 'sendMessage', { chat_id: ada.id, text }),
    write: (text: string) => client.write(ada.id, `@${name}`, text),
    updates: (parameters: object) => client.bot(key, 'getUpdates', parameters),
    timeline: async (): Promise<{ from: string; to: string; reason: string | null }[]> =>
      (await client.result('GET', `${path}/transitions`)).items,
  }
}

/** A failure in the envelope; tap would be content with a part of the text, so it is matched whole. */
export const refused = (error_code: number, description: string) => ({
  status: error_code,
  body: { ok: false, error_code, description: exactly(description) },
})

const exactly = (text: string) => new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`)

export interface RawRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

const isJson = /^application\/json/

/** A request whose path, verb and headers go out exactly as given, which fetch does not promise. */
export async function raw(url: string, path: string, options: RawRequest = {}) {
  const { method = 'GET', headers = {}, body } = options
  const { hostname, port } = new URL(url)
  const isFramed = body === undefined || 'transfer-encoding' in headers
  const framing = isFramed ? {} : { 'content-length': `${Buffer.byteLength(body)}` }
  const sent = request({
    hostname,
    port,
    path,
    method,
    headers: { ...headers, ...framing },
    agent: false,
  })
  const answered = once(sent, 'response')
  sent.end(body)
  const [response] = (await answered) as [IncomingMessage]
  const text = Buffer.concat(await response.toArray()).toString()
  const type = response.headers['content-type'] ?? ''
  const answer = text !== '' && isJson.test(type) ? JSON.parse(text) : undefined
  checkAnswer(path, answer)
  return { status: response.statusCode, headers: response.headers, text, body: answer }
}
