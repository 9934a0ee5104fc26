/** Accounts on a test database, with a clock to set and codes to read. */
import type { Test } from 'tap'
import type { Failure } from '../../machines/model/protocol.ts'
import { Accounts, type AccountsOptions } from '../../src/accounts/accounts.ts'
import type { RequestClient } from '../../src/accounts/client.ts'
import type { CodeMessage, OtpSender } from '../../src/accounts/senders/sender.ts'
import type { JobHandler, Jobs } from '../../src/jobs/jobs.ts'
import { testDatabase } from './database.ts'
import { quietLogger } from './logger.ts'
import { testVault } from './vault.ts'

export const issuer = 'https://chapar.example'
export const client = { ip: '192.0.2.1', userAgent: 'test' }

/** Every call is another one of these numbers, all of them mobile and valid. */
let phones = 0
export const newPhone = () => `+98912${String(1_000_000 + phones++).padStart(7, '0')}`

/** Does at once what the queue would do soon. Reminders are only kept. */
export function inlineJobs() {
  const reminders: string[] = []
  let send: JobHandler = async () => undefined
  const jobs: Jobs = {
    sendCode: (id) => send(id, AbortSignal.timeout(5_000)),
    onSendCode: (handler) => {
      send = handler
    },
    remind: async ({ kind, id }) => void reminders.push(`${kind}/${id}`),
    onReminder: () => undefined,
    onBack: () => undefined,
    trouble: () => null,
    start: () => undefined,
    close: async () => undefined,
  }
  return { jobs, reminders }
}

export function outbox() {
  const messages: CodeMessage[] = []
  const sender: OtpSender = {
    channel: 'console',
    send: async (message) => void messages.push(message),
    close: async () => undefined,
  }
  const codeFor = (phone: string) => messages.findLast((each) => each.phone === phone)!.code
  return { messages, sender, codeFor }
}

export async function accountsRig(
  t: Pick<Test, 'teardown'>,
  options: Partial<AccountsOptions> = {},
) {
  const { url, database } = await testDatabase(t)
  const vault = await testVault(t, database)
  const { messages, sender, codeFor } = outbox()
  const time = { now: new Date('2026-01-01T12:00:00Z') }
  const advance = (seconds: number) => {
    time.now = new Date(time.now.getTime() + seconds * 1_000)
  }
  const all = {
    ...{ db: database, vault, jobs: inlineJobs().jobs, sender, issuer, logger: quietLogger },
    clock: () => time.now,
    ...options,
  }
  const accounts = new Accounts(all)
  await accounts.start()

  async function signIn(phone = newPhone(), from: RequestClient = client) {
    await accounts.sendOtp(phone, from)
    return await accounts.login(phone, codeFor(phone), from)
  }
  const restart = () => new Accounts(all)
  return { accounts, database, url, vault, messages, codeFor, time, advance, signIn, restart }
}

/** Any other code of the same length. */
export const wrong = (code: string) =>
  String((Number(code) + 1) % 10 ** code.length).padStart(code.length, '0')

/** For what is not about limits. */
const many = { count: 100_000, seconds: 60 }
export const noLimits = {
  resendDelays: [0] as const,
  sendsPerPhone: many,
  sendBurstPerPhone: many,
  sendsPerNetwork: many,
  triesPerNetwork: many,
  sendsPerCountry: many,
  sendsInAll: many,
}

/** How an attempt was refused; nothing when it was not. */
export const failureOf = (attempt: Promise<unknown>): Promise<Failure | undefined> =>
  attempt.then(
    () => undefined,
    (error) => error.failure ?? error,
  )
