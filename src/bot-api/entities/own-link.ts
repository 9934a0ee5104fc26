/** What the messenger's own links mean inside markup: a person, a custom emoji, or a point in time. */
import { dateTimeFormat } from './date-time.ts'
import { asciiLower, parseInteger } from './scan.ts'
import type { MessageEntity } from './types.ts'

type Target = Pick<
  MessageEntity,
  'type' | 'url' | 'user' | 'custom_emoji_id' | 'unix_time' | 'date_time_format'
>

export const mentionOf = (id: number): Target => ({
  type: 'text_mention',
  user: { id, is_bot: false, first_name: '' },
})

export function readMention(url: string): Target | undefined {
  const id = parameters(asciiLower(url), 'user')?.get('id')
  const value = Number(parseInteger(id ?? '', 64) ?? 0)
  return value > 0 && Number.isSafeInteger(value) ? mentionOf(value) : undefined
}

export function readEmoji(url: string): Target | undefined {
  const id = parameters(url, 'emoji')?.get('id')
  return id && parseInteger(id, 64) ? { type: 'custom_emoji', custom_emoji_id: id } : undefined
}

export function readTime(url: string): Target | undefined {
  const given = parameters(url, 'time')
  const time = Number(parseInteger(given?.get('unix') ?? '', 32) ?? 0)
  const format = dateTimeFormat(given?.get('format') ?? '')
  if (time <= 0 || format === undefined) return undefined
  return { type: 'date_time', unix_time: time, date_time_format: format }
}

function parameters(url: string, host: string): Map<string, string> | undefined {
  const link = /^tg:(?:\/\/)?([^/?#]*)\/?\?([^#]*)/i.exec(url)
  if (!link || asciiLower(link[1]!) !== host) return undefined
  const pairs = new Map<string, string>()
  for (const pair of link[2]!.split('&')) {
    const [key = '', ...value] = pair.split('=')
    if (!pairs.has(key)) pairs.set(key, value.join('='))
  }
  return pairs
}
