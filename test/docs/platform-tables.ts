/** What docs/platforms.md tells of the platforms in tables, out of the same data as GET /platforms. */
import type { Capabilities, Platform } from '../../actors/ports/platform.ts'
import { canDo, type Method } from '../../src/bot-api/method.ts'
import { methods } from '../../src/bot-api/methods/index.ts'
import {
  methodRefused,
  parametersKnown,
  reasonAgainst,
  type Treatment,
  treatmentOf,
} from '../../src/bot-api/parameter-rules.ts'
import { METHOD_NAMES } from '../../src/bot-api/reference.ts'
import { capabilities as sandbox } from '../../src/platforms/sandbox/platform.ts'
import { capabilities as telegram } from '../../src/platforms/telegram/facts.ts'
import { bale, soroush, telegramBot } from '../../src/platforms/upstream-bot/flavour.ts'
import { capabilities as xmpp } from '../../src/platforms/xmpp/platform.ts'

export const platforms: readonly (readonly [id: string, capabilities: Capabilities])[] = [
  ['sandbox', sandbox],
  ['xmpp', xmpp],
  ['telegram', telegram],
  ['telegram-bot', telegramBot.capabilities],
  ['bale', bale.capabilities],
  ['soroush', soroush.capabilities],
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
    `\nOnly where calls are passed through (${nowhere.length}); on the others not, because the network has`,
    ...lacking(nowhere),
    '',
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

/** What is not carried out everywhere; one row for each parameter, or for each method where methods differ. */
function parameters(): string[] {
  const uses = [...methods.values()].flatMap((method) =>
    parametersKnown(method.name).map((parameter) => ({ method, parameter })),
  )
  const byName = Map.groupBy(uses, ({ parameter }) => parameter)
  const rows = [...byName]
    .sort(([one], [other]) => one.localeCompare(other))
    .flatMap(([name, all]) => {
      const groups = alike(all)
      return groups.map((uses) => ({
        name,
        label: groups.length === 1 ? `\`${name}\`` : `\`${name}\` of ${names(methodsOf(uses))}`,
        cells: platforms.map(([, capabilities]) => treatments(uses, capabilities)[0]),
        reason: uses.flatMap((use) => whyRefused(use) ?? [])[0],
      }))
    })
  const told = rows.filter(({ cells }) => cells.some((cell) => cell && cell !== 'carried out'))
  return [
    'A parameter of the reference is carried out, refused with the reason, or cosmetic: passed over, since only looks',
    'depend on it. A parameter that the reference does not know is ignored. These are not carried out everywhere; the other',
    `${byName.size - new Set(told.map(({ name }) => name)).size} are, wherever their method is.\n`,
    table(
      'Parameter',
      told.map(({ label, cells, reason }) => [
        label,
        ...cells.map((cell) => (cell === 'carried out' ? 'yes' : (cell ?? '–'))),
        cells.includes('refused') && reason ? reason : '',
      ]),
      'Refused, because the network has',
    ),
    '',
  ]
}

interface Use {
  readonly method: Method
  readonly parameter: string
}

const methodsOf = (uses: readonly Use[]) => uses.map(({ method }) => method.name)

/** Groups of methods that treat the parameter alike on each platform. */
function alike(uses: readonly Use[]): Use[][] {
  const groups: Use[][] = []
  for (const use of uses) {
    const fits = (group: readonly Use[]) =>
      platforms.every(([, capabilities]) => treatments([...group, use], capabilities).length < 2)
    const group = groups.find(fits)
    if (group) group.push(use)
    else groups.push([use])
  }
  return groups
}

/** The different treatments on a platform, where the methods are served there. */
const treatments = (uses: readonly Use[], capabilities: Capabilities): Treatment[] => [
  ...new Set(
    uses
      .filter(({ method }) => canDo({ capabilities }, method))
      .map(({ method, parameter }) => treatmentOf({ capabilities }, method, parameter))
      .filter((treatment) => treatment !== undefined),
  ),
]

/** In the words for a network that is not the reference's own. */
const whyRefused = ({ method, parameter }: Use): string | undefined =>
  reasonAgainst(other, method, parameter)?.replace('the network has ', '')

const other = { id: 'xmpp', name: 'XMPP', capabilities: xmpp } as Platform

/** Methods by what a network lacks that does not have them. */
function lacking(nowhere: readonly string[]): string[] {
  const reason = (name: string) =>
    methodRefused(other, name).message.replace(/.*the network has /, '')
  return [...Map.groupBy(nowhere, reason)].map(([what, found]) => `- ${what}: ${names(found)}`)
}

const names = (all: readonly string[]) => all.map((name) => `\`${name}\``).join(', ')

const row = (name: string, tell: (capabilities: Capabilities) => string) => [
  name,
  ...platforms.map(([, capabilities]) => tell(capabilities) || '–'),
]

const table = (first: string, rows: readonly (readonly string[])[], ...last: string[]) =>
  [
    [first, ...platforms.map(([id]) => `\`${id}\``), ...last],
    [first, ...platforms, ...last].map(() => '---'),
    ...rows,
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
