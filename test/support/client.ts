/** A user of the service, over HTTP: signs in, links accounts of the sandbox, makes keys. */
import { setTimeout as pause } from 'node:timers/promises'
import { checkAnswer } from './reference-check.ts'

/** Whatever the service sends: tests look into it without a schema. */
type Body = ReturnType<typeof JSON.parse>

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
}

export async function until<Value>(
  question: () => Promise<Value | undefined | false> | Value | undefined | false,
  withinMs = 30_000,
): Promise<Value> {
  const end = Date.now() + withinMs
  for (let wait = 10; ; wait = Math.min(wait * 1.2, 100)) {
    const value = await question()
    if (value !== undefined && value !== false) return value
    if (Date.now() > end) throw new Error(`not so within ${withinMs} ms: ${question}`)
    await pause(wait)
  }
}

/** No two people of one run share a phone, and runs on one database hardly ever do. */
let people = Math.floor(Math.random() * 10_000)

export class Client {
  readonly url: string
  readonly token: string
  readonly refreshToken: string

  readonly #scheme: string

  private constructor(url: string, token: string, refreshToken: string, scheme = 'Bearer') {
    this.#scheme = scheme
    this.url = url
    this.token = token
    this.refreshToken = refreshToken
  }

  static async signIn(url: string, phone: string, codes: Map<string, string>): Promise<Client> {
    codes.delete(phone)
    // Two codes for one phone keep a distance of some seconds.
    await until(async () => {
      const { status, body } = await ask(url, 'POST', '/auth/sendOtp', { phone })
      if (status !== 200 && status !== 429) throw new Error(`no code: ${JSON.stringify(body)}`)
      return status === 200
    })
    const otp = await until(() => codes.get(phone))
    codes.delete(phone)
    const { body } = await ask(url, 'POST', '/auth/login', { phone, otp })
    return new Client(url, body.result.access_token, body.result.refresh_token)
  }

  /** The same user with a new access token: one lives ten minutes. */
  async renewed(): Promise<Client> {
    const { url, refreshToken: refresh_token } = this
    const { body } = await ask(url, 'POST', '/auth/refresh', { refresh_token })
    return new Client(url, body.result.access_token, body.result.refresh_token)
  }

  /** The same user at another node. */
  at(url: string): Client {
    return new Client(url, this.token, this.refreshToken, this.#scheme)
  }

  /** The same user by a personal token, which does not end. */
  byPersonalToken(token: string): Client {
    return new Client(this.url, token, this.refreshToken, 'apikey')
  }

  ask(method: string, path: string, body?: unknown): Promise<Answer> {
    return ask(this.url, method, path, body, {
      authorization: `${this.#scheme} ${this.token}`,
    })
  }

  /** The result; throws with the answer when it is none. */
  async result(method: string, path: string, body?: unknown) {
    const answer = await this.ask(method, path, body)
    if (!answer.body?.ok) {
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    }
    return answer.body.result
  }

  /** A person of the sandbox, with a phone from +1650555…; tests that name a phone themselves take another prefix. */
  async person(first_name: string, username?: string, more: object = {}) {
    const phone = `+1650555${String(people++ % 10_000).padStart(4, '0')}`
    const person = { first_name, phone, ...(username && { username }), ...more }
    return await this.result('POST', '/sandbox/people', person)
  }

  /** Links a person's account, by another code than `old`; resolves with the id of the credential once it is active. */
  async link(person: { id: number; phone: string }, old?: string): Promise<number> {
    const { session_id } = await this.result('POST', '/platforms/sandbox/link/start', {
      phone: person.phone,
    })
    const code = await this.code(person.id, old)
    const linked = await this.result('POST', '/platforms/sandbox/link/verify', {
      session_id,
      otp: code,
    })
    const { credential_id } = linked.credential
    await this.state(credential_id, 'active')
    return credential_id
  }

  /** The newest one-time code in a person's inbox, once there is another one than `old`. */
  code(personId: number, old?: string): Promise<string> {
    return until(async () => {
      const code = await this.newestCode(personId)
      return code !== old && code
    })
  }

  async newestCode(personId: number): Promise<string | undefined> {
    const inbox = await this.result('GET', `/sandbox/people/${personId}/inbox`)
    return inbox.codes.at(-1)?.code
  }

  /** Waits until the credential is in this public state; resolves with its record. */
  state(credentialId: number, state: string, withinMs?: number) {
    return until(async () => {
      const record = await this.result('GET', `/platforms/credentials/${credentialId}`)
      return record.state === state && record
    }, withinMs)
  }

  async key(credential_id: number, scopes = ['bot:send', 'bot:receive']) {
    return await this.result('POST', '/api_keys', { name: 'test', credential_id, scopes })
  }

  /** Writes as a person of the sandbox. */
  async write(personId: number, to: number | string, text: string) {
    return await this.result('POST', `/sandbox/people/${personId}/messages`, { to, text })
  }

  /** A bot call with a JSON body. */
  bot(key: string, method: string, body: unknown = {}): Promise<Answer> {
    return ask(this.url, 'POST', `/bot${key}/${method}`, body)
  }
}

export async function ask(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const answer = text && JSON.parse(text)
  checkAnswer(path, answer)
  return { status: response.status, headers: response.headers, body: answer }
}
