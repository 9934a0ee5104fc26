/** What docs/platforms.md tells of the platforms in tables, out of the same data as GET /platforms. */
import type { Capabilities } from '../../actors/ports/platform.ts'
import { canDo, type Method } from '../../src/bot-api/method.ts'
import { methods } from '../../src/bot-api/methods/index.ts'
import { parametersKnown, type Treatment, treatmentOf } from '../../src/bot-api/parameter-rules.ts'
import { METHOD_NAMES } from '../../src/bot-api/reference.ts'
import { capabilities as sandbox } from '../../src/platforms/sandbox/capabilities.ts'
import { capabilities as telegram } from '../../src/platforms/telegram/facts.ts'
import { bale, telegramBot } from '../../src/platforms/upstream-bot/flavour.ts'
import { capabilities as xmpp } from '../../src/platforms/xmpp/platform.ts'

export const platforms: readonly (readonly [id: string, capabilities: Capabilities])[] = [
  ['sandbox', sandbox],
  ['xmpp', xmpp],
  ['telegram', telegram],
  ['telegram-bot', telegramBot.capabilities],
  ['bale', bale.capabilities],
]

const begin = '<!-- Written by `npm run docs`; do not edit by hand. -->'
const end = '<!-- The end of what `npm run docs` writes. -->'

/** The document with its tables as they should be. */
export function withTables(document: string): string {
  const [before, rest] = document.split(begin)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) throw new Error('the marks are missing')
  return [before, begin, `\n\n${tables()}\n\n`, end, after].join('')
}

function tables(): string {
  const sorted = [...methods.values()].sort((a, b) => a.name.localeCompare(b.name))
  const can = sorted.map((method) => ({
    name: method.name,
    by: platforms.map(([, capabilities]) => canDo({ capabilities }, method)),
  }))
  const everywhere = can.filter(({ by }) => by.every(Boolean))
  const somewhere = can.filter(({ by }) => by.some(Boolean) && !by.every(Boolean))
  const nowhere = METHOD_NAMES.filter(
    (name) => !can.some((one) => one.name === name && one.by.some(Boolean)),
  )
  return [
    '### Methods\n',
    `On every platform (${everywhere.length}): ${names(everywhere.map(({ name }) => name))}.\n`,
    'On some:\n',
    table(
      'Method',
      somewhere.map(({ name, by }) => [`\`${name}\``, ...by.map((does) => (does ? 'yes' : '–'))]),
    ),
    `\nOn none (${nowhere.length}): ${names(nowhere)}.\n`,
    '### Parameters\n',
    ...parameters(),
    '### Content, updates and limits\n',
    table('', [
      row('Content', ({ content }) => content.join(', ')),
      row('Updates', ({ updates }) => updates.join(', ')),
      row('Chats', ({ surfaces }) => surfaces.join(', ')),
      row('Inline keyboards', ({ buttons }) => (buttons ? 'yes' : '–')),
      row('Reply keyboards', ({ replyKeyboards }) => (replyKeyboards ? 'yes' : '–')),
      row('Text, at most', ({ limits }) => `${limits.textLength}`),
      row('File, at most (bytes)', ({ limits }) => `${limits.fileBytes ?? 'as its server says'}`),
    ]),
  ].join('\n')
}

/** What is passed over and what is refused, of all methods together. */
function parameters(): string[] {
  const told = (method: Method, capabilities: Capabilities) =>
    parametersKnown(method.name).map(
      (name) => [name, treatmentOf({ capabilities }, method, name)] as const,
    )
  const listed = (treatment: Treatment, capabilities: Capabilities) => [
    ...new Set(
      [...methods.values()]
        .filter((method) => canDo({ capabilities }, method))
        .flatMap((method) => told(method, capabilities))
        .filter(([, one]) => one === treatment)
        .map(([name]) => name),
    ),
  ]
  const [first = xmpp] = platforms.map(([, capabilities]) => capabilities)
  const everywhere = listed('cosmetic', first).filter((name) =>
    platforms.every(([, capabilities]) => listed('cosmetic', capabilities).includes(name)),
  )
  const own = platforms.map(([id, capabilities]) => {
    const here = listed('cosmetic', capabilities).filter((name) => !everywhere.includes(name))
    return `- \`${id}\`: ${here.length > 0 ? names(here.sort()) : 'none'}`
  })
  const refused = new Set(platforms.flatMap(([, one]) => listed('refused', one)))
  return [
    'A parameter of the reference is carried out, refused with the reason, or cosmetic: passed over, since only looks',
    'depend on it. A parameter that the reference does not know is ignored.\n',
    `Refused when it asks for something: ${names([...refused].sort())}.\n`,
    `Cosmetic on every platform: ${names(everywhere.sort())}.\n`,
    'Cosmetic beside these:\n',
    ...own,
    '',
  ]
}

const names = (all: readonly string[]) => all.map((name) => `\`${name}\``).join(', ')

const row = (name: string, tell: (capabilities: Capabilities) => string) => [
  name,
  ...platforms.map(([, capabilities]) => tell(capabilities) || '–'),
]

const table = (first: string, rows: readonly (readonly string[])[]) =>
  [
    [first, ...platforms.map(([id]) => `\`${id}\``)],
    [first, ...platforms.map(() => '')].map(() => '---'),
    ...rows,
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
