/** Methods about the account as a bot: what the network keeps is changed there, the rest is kept by the gateway. */

import type { Json } from '../../../actors/ports/platform.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { OperationKind } from '../../../machines/model/operation.ts'
import { RIGHTS } from '../../../machines/model/rights.ts'
import { Arguments } from '../arguments.ts'
import { type Call, type Method, type ParameterType, result } from '../method.ts'
import { idIn, languageOf } from '../place.ts'

interface Part {
  readonly name: string
  readonly summary: string
  /** What it is told apart by, and what is set. */
  readonly where: Readonly<Record<string, ParameterType>>
  readonly value: Readonly<Record<string, ParameterType>>
  /** What it is kept under; parts of it may have a value of their own. */
  place(args: Arguments): string
  /** Where it is looked for next. */
  readonly fallback?: string
}

const setter = (
  part: Part,
  value: (call: Call) => Promise<Json> | Json,
  operation?: OperationKind,
): Method => ({
  name: `set${part.name}`,
  summary: `Sets ${part.summary}`,
  scope: 'bot:send',
  operation,
  parameters: { ...part.value, ...part.where },
  required: [],
  run: async (call) => {
    const { key, world, args } = call
    await world.profileStore.write(key.facts.credentialId, part.place(args), await value(call))
    return result(true)
  },
})

const getter = (part: Part, shown: (kept: Json | undefined, call: Call) => Promise<Json> | Json) =>
  ({
    name: `get${part.name}`,
    summary: `Tells ${part.summary}`,
    scope: undefined,
    operation: undefined,
    parameters: part.where,
    required: [],
    run: async (call) => {
      const { key, world, args } = call
      const { credentialId } = key.facts
      const own = await world.profileStore.read(credentialId, part.place(args))
      const isNone = (own === undefined || own === '') && part.fallback !== undefined
      const kept = isNone ? await world.profileStore.read(credentialId, part.fallback) : own
      return result(await shown(kept, call))
    },
  }) satisfies Method

const byLanguage = (name: string, field: string, summary: string, place: string): Part => ({
  name,
  summary,
  where: { language_code: 'string' },
  value: { [field]: 'string' },
  place: (args) => `${place} ${languageOf(args)}`,
  fallback: `${place} `,
})

const name = byLanguage('MyName', 'name', 'the name of the bot', 'name')
const about = byLanguage('MyDescription', 'description', 'what an empty chat shows', 'description')
const short = byLanguage(
  'MyShortDescription',
  'short_description',
  'what the profile shows',
  'short description',
)

const menuButton: Part = {
  name: 'ChatMenuButton',
  summary: 'the button beside the text field',
  where: { chat_id: 'integer' },
  value: { menu_button: 'json' },
  place: (args) => `menu button ${args.has('chat_id') ? idIn(args, 'chat_id') : ''}`,
  fallback: 'menu button ',
}

const rights: Part = {
  name: 'MyDefaultAdministratorRights',
  summary: 'the rights asked for when the bot is made an administrator',
  where: { for_channels: 'boolean' },
  value: { rights: 'json' },
  place: (args) => `rights ${args.boolean('for_channels') ? 'channels' : 'groups'}`,
}

const within = (value: string | undefined, length: number, error: string): string => {
  if ([...(value ?? '')].length > length) throw failed('bad_request', error)
  return value ?? ''
}

/** Only the value without a language is the network's. */
const isOwn = ({ args }: Call) => !args.has('language_code')

const setName = setter(
  name,
  async (call) => {
    const firstName = within(call.args.text('name'), 64, 'BOT_TITLE_INVALID')
    if (isOwn(call) && firstName !== '') await call.perform({ kind: 'set_name', firstName })
    return firstName
  },
  'set_name',
)

const setShort = setter(
  short,
  async (call) => {
    const text = within(call.args.text('short_description'), 120, 'short description is too long')
    if (isOwn(call)) await call.perform({ kind: 'set_about', about: text })
    return text
  },
  'set_about',
)

const objectOf = (args: Arguments, parameter: string): Json => {
  const value = args.hasJson(parameter) ? args.json(parameter) : {}
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json
  throw failed('bad_request', `object expected as ${parameter}`)
}

const MENU_BUTTONS = ['default', 'commands', 'web_app']

function menuButtonOf({ args }: Call): Json {
  const button = objectOf(args, 'menu_button') as { readonly type?: Json }
  if (button.type === undefined) return { type: 'default' }
  if (MENU_BUTTONS.includes(`${button.type}`)) return button
  throw failed('bad_request', "can't parse menu button: unsupported type specified")
}

const RIGHT_NAMES = [
  'is_anonymous',
  ...RIGHTS.map((right) => `can_${right}`),
  'can_send_welcome_messages',
]

function rightsOf({ args }: Call): Json {
  const given = Arguments.from(objectOf(args, 'rights') as object)
  return Object.fromEntries(RIGHT_NAMES.map((name) => [name, given.boolean(name)]))
}

const noRights = Object.fromEntries(RIGHT_NAMES.map((name) => [name, false]))

async function nameShown(kept: Json | undefined, { key, world }: Call): Promise<Json> {
  if (kept) return { name: kept }
  const profile = (await world.profile(key.facts.credentialId)) as { readonly first_name: string }
  return { name: profile.first_name }
}

export const profileMethods: readonly Method[] = [
  setName,
  getter(name, nameShown),
  setter(about, ({ args }) => within(args.text('description'), 512, 'description is too long')),
  getter(about, (kept = '') => ({ description: kept })),
  setShort,
  getter(short, (kept = '') => ({ short_description: kept })),
  setter(menuButton, menuButtonOf),
  getter(menuButton, (kept = { type: 'default' }) => kept),
  setter(rights, rightsOf),
  getter(rights, (kept = noRights) => kept),
]
