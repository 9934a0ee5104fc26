/** Links in markup: which URLs are accepted, and links to people, custom emoji and points in time. */
import { asciiLower, type MessageEntity, parseInteger } from './entity.ts'

/** Undefined if the format has a letter without meaning. */
export function dateTimeFormat(format: string): string | undefined {
  if (/^[rR]$/.test(format)) return 'r'
  if (!/^[tTdDwW]*$/.test(format)) return undefined
  return (/w/i.test(format) ? 'w' : '') + longest(format, 'd') + longest(format, 't')
}

const longest = (format: string, letter: string): string => {
  const long = letter.toUpperCase()
  if (format.includes(long)) return long
  return format.includes(letter) ? letter : ''
}

/** The meaning of a link with the messenger's own scheme: a person, a custom emoji, or a point in time. */
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

/** Longer than any address that browsers accept; it also bounds the work on nested links. */
const MAX_LENGTH = 4096

export function readTextLink(
  url: string,
): Pick<MessageEntity, 'type' | 'url' | 'user'> | undefined {
  if (url.length > MAX_LENGTH || !url.isWellFormed()) return undefined
  const mention = readMention(url)
  if (mention) return mention
  const checked = checkLink(url)
  return 'url' in checked ? { type: 'text_link', url: checked.url } : undefined
}

type CheckedLink = { url: string } | { fault: string }

const ownSchemes = /^(tg|ton|tonsite):(?:\/\/)?/i

/** Accepts HTTP and the messenger's own schemes; a missing protocol means HTTP. */
export function checkLink(link: string): CheckedLink {
  const scheme = ownSchemes.exec(link)
  if (!scheme) return checkWebLink(link)
  const name = scheme[1]!.toLowerCase()
  return checkOwnLink(name, link.slice(scheme[0].length))
}

function checkWebLink(link: string): CheckedLink {
  const parts = splitLink(link)
  if ('fault' in parts) return parts
  const { protocol, user, host, port, rest } = parts
  if (!host.includes('.') && !host.startsWith('[')) return { fault: 'Wrong HTTP URL' }
  const credentials = user === '' ? '' : `${user}@`
  return { url: `${protocol}://${credentials}${host}${port === 0 ? '' : `:${port}`}${rest}` }
}

function checkOwnLink(scheme: string, link: string): CheckedLink {
  const parts = splitLink(link)
  if ('fault' in parts) return parts
  const { user, host, port, rest } = parts
  if (/^https?:\/\//i.test(link) || user !== '' || port !== 0 || host.startsWith('[')) {
    return { fault: scheme === 'tg' ? 'Wrong tg URL' : 'Wrong ton URL' }
  }
  const allowed = scheme === 'tonsite' ? /^[\w.-]+$/ : /^[\w-]+$/
  if (!allowed.test(host)) return { fault: 'Unallowed characters in URL host' }
  return { url: `${scheme}://${host}${rest.replace(/^\/(?=\?)/, '')}` }
}

type LinkParts = { protocol: string; user: string; host: string; port: number; rest: string }

function splitLink(link: string): LinkParts | { fault: string } {
  const protocol = /^([^:/?#@[\]]*):\/\//.exec(link)
  const name = protocol ? protocol[1]!.toLowerCase() : 'http'
  if (name !== 'http' && name !== 'https') return { fault: 'Unsupported URL protocol' }
  const address = link.slice(protocol ? protocol[0].length : 0)
  const authority = /^[^/?#]*/.exec(address)![0]
  const port = /(?<=.):([^:\]@]*)$/s.exec(authority)
  const portNumber = port ? readPort(port[1]!) : 0
  if (portNumber === undefined) return { fault: 'Wrong port number specified in the URL' }
  const userAndHost = port ? authority.slice(0, port.index) : authority
  const at = userAndHost.lastIndexOf('@')
  const user = userAndHost.slice(0, Math.max(at, 0))
  const host = userAndHost.slice(at + 1).toLowerCase()
  const fault =
    hostFault(host) ?? partFault(user, 'userinfo', /^[\w.\-!$,~*'();&+=:\u0080-\uffff]*$/)
  if (fault) return { fault }
  return { protocol: name, user, host, port: portNumber, rest: readRest(address, authority) }
}

function readPort(digits: string): number | undefined {
  const port = /^\d+$/.test(digits) ? Number(digits) : 0
  return port > 0 && port <= 65_535 ? port : undefined
}

function hostFault(host: string): string | undefined {
  if (host === '') return 'URL host is empty'
  if (host === '.') return 'Host is invalid'
  if (/^\[.*\]$/s.test(host)) {
    const valid = URL.canParse(`http://${host}/`)
    return valid ? undefined : 'Wrong IPv6 address specified in the URL'
  }
  return partFault(host, 'host', /^[\w.\-!$,~*'();&+=\u0080-\uffff]*$/)
}

function partFault(part: string, name: string, allowed: RegExp): string | undefined {
  const plain = part.replace(/%[\da-f]{2}/gi, '')
  if (plain.includes('%')) return `Wrong percent-encoded symbol in URL ${name}`
  return allowed.test(plain) ? undefined : `Disallowed character in URL ${name}`
}

function readRest(address: string, authority: string): string {
  const given = address.slice(authority.length).trimEnd()
  const rest = Array.from(given, (char) => (char > ' ' ? char : encodeURIComponent(char))).join('')
  return rest.startsWith('/') ? rest : `/${rest}`
}
