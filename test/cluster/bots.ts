/** Bots that receive, each in the way of those that people run: its own loop, three libraries, and a webhook. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Bot } from 'grammy'
import { Telegraf } from 'telegraf'
import { BotProcess } from '../libraries/bot-process.ts'
import { Missing, workshopOf } from '../libraries/toolchains.ts'
import { ask } from '../support/client.ts'

/** A text as it came, in the order of arrival. */
export interface Seen {
  readonly updateId: number
  readonly messageId: number
  readonly text: string
}

interface Update {
  readonly update_id: number
  readonly message?: { readonly message_id: number; readonly text?: string }
}

export interface ReceivingBot {
  readonly kind: BotKind
  readonly seen: readonly Seen[]
  /** Why the library has given up. */
  readonly failures: readonly string[]
  close(): Promise<void>
}

interface Receiving {
  readonly url: string
  readonly key: string
  /** Where its webhook listens. */
  readonly host: string
  note(update: Update): void
  /** The library has given up. */
  failed(cause: unknown): void
}

const AGAIN_MS = 100

function polling({ url, key, note }: Receiving) {
  const closing = new AbortController()
  const { signal } = closing
  const run = async () => {
    for (let offset = 0; !signal.aborted; ) {
      const answer = await fetch(`${url}/bot${key}/getUpdates?timeout=10&offset=${offset}`, {
        signal,
      })
        .then((response) => response.json() as Promise<{ ok: boolean; result: Update[] }>)
        .catch(() => undefined)
      if (!answer?.ok) await pause(AGAIN_MS)
      for (const update of answer?.ok ? answer.result : []) {
        offset = update.update_id + 1
        note(update)
      }
    }
  }
  const running = run()
  return async () => {
    closing.abort()
    await running
  }
}

function withGrammy({ url, key, note, failed }: Receiving) {
  const bot = new Bot(key, { client: { apiRoot: url } })
  bot.on('message', ({ update }) => note(update))
  const running = bot.start({ allowed_updates: ['message'] }).catch(failed)
  return async () => {
    await bot.stop().catch(() => undefined)
    await running
  }
}

function withTelegraf({ url, key, note, failed }: Receiving) {
  const bot = new Telegraf(key, { telegram: { apiRoot: url } })
  bot.on('message', ({ update }) => note(update as Update))
  const closing = new AbortController()
  // A bot whose first calls fail ends, and its supervisor starts it again; polls are repeated by the library.
  const run = async (): Promise<void> => {
    try {
      await bot.launch({ allowedUpdates: ['message'] })
    } catch (cause) {
      // The second is the answer of a balancer or a node, where none can serve.
      const isAway = cause instanceof Error && /^FetchError|^Error: 503/.test(String(cause))
      if (!isAway) throw cause
      await pause(AGAIN_MS)
      if (!closing.signal.aborted) await run()
    }
  }
  const running = run().catch(failed)
  return async () => {
    closing.abort()
    try {
      bot.stop()
    } catch (cause) {
      failed(cause)
    }
    await running
  }
}

async function withWebhook({ url, key, host, note }: Receiving) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    note(JSON.parse(Buffer.concat(chunks).toString()))
    response.end()
  }).listen(0, host)
  await once(server, 'listening')
  const address = `http://${host}:${(server.address() as AddressInfo).port}/`
  const close = async () => {
    server.closeAllConnections()
    server.close()
  }
  const { status, body } = await ask(url, 'POST', `/bot${key}/setWebhook`, { url: address })
  if (body.ok) return close
  await close()
  throw new Error(`setWebhook: ${status} ${JSON.stringify(body)}`)
}

/** In a process of its own, as it is another language. */
async function withPython({ url, key, note, failed }: Receiving) {
  const workshop = await workshopOf('python')
  const start = {
    address: url,
    key,
    mode: 'polling',
    chat: 0,
    allowed_updates: ['message'],
  } as const
  const bot = await BotProcess.start(workshop('ptb.py'), start, note)
  let isOver = false
  void bot.ended.then((reason) => {
    if (!isOver) failed(reason)
  })
  return async () => {
    isOver = true
    await bot.stop()
  }
}

const starts = {
  polling,
  webhook: withWebhook,
  grammY: withGrammy,
  Telegraf: withTelegraf,
  'python-telegram-bot': withPython,
}

export type BotKind = keyof typeof starts

/** How many bots of each kind. */
export type BotCounts = Readonly<Partial<Record<BotKind, number>>>

/** Kinds that cannot be run here, with the reason. */
export async function kindsMissing(): Promise<ReadonlyMap<BotKind, string>> {
  try {
    await workshopOf('python')
    return new Map()
  } catch (cause) {
    if (!(cause instanceof Missing)) throw cause
    return new Map([['python-telegram-bot', cause.message]])
  }
}

export async function startBot(
  kind: BotKind,
  url: string,
  key: string,
  host = '127.0.0.1',
): Promise<ReceivingBot> {
  const seen: Seen[] = []
  const failures: string[] = []
  const failed = (cause: unknown) => void failures.push(String(cause))
  const note = ({ update_id: updateId, message }: Update) => {
    if (message?.text === undefined) return
    seen.push({ updateId, messageId: message.message_id, text: message.text })
  }
  return { kind, seen, failures, close: await starts[kind]({ url, key, host, note, failed }) }
}
