/** Bots that receive, each in the way of those that people run: its own loop, grammY, Telegraf, and a webhook. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Bot } from 'grammy'
import { Telegraf } from 'telegraf'
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
      if (!(cause instanceof Error && cause.name === 'FetchError')) throw cause
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

async function withWebhook({ url, key, note }: Receiving) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    note(JSON.parse(Buffer.concat(chunks).toString()))
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const { body } = await ask(url, 'POST', `/bot${key}/setWebhook`, { url: address })
  if (!body.ok) throw new Error(`setWebhook: ${JSON.stringify(body)}`)
  return async () => {
    server.closeAllConnections()
    server.close()
  }
}

const starts = {
  polling,
  grammY: withGrammy,
  Telegraf: withTelegraf,
  webhook: withWebhook,
}

export type BotKind = keyof typeof starts
export const BOT_KINDS = Object.keys(starts) as BotKind[]

export async function startBot(kind: BotKind, url: string, key: string): Promise<ReceivingBot> {
  const seen: Seen[] = []
  const failures: string[] = []
  const failed = (cause: unknown) => void failures.push(String(cause))
  const note = ({ update_id: updateId, message }: Update) => {
    if (message?.text === undefined) return
    seen.push({ updateId, messageId: message.message_id, text: message.text })
  }
  return { kind, seen, failures, close: await starts[kind]({ url, key, note, failed }) }
}
