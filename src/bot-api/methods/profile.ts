/** Methods about the account as a bot: getMe, and its names and texts, which the network or the gateway keeps. */
import type { AccountIdentity, Platform } from '../../../actors/ports/platform.ts'
import type { CredentialFacts } from '../../../actors/ports/ports.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { OperationKind } from '../../../machines/model/operation.ts'
import type { Json } from '../../../machines/model/protocol.ts'
import { RIGHTS, rightsIn, withManaging } from '../../../machines/model/rights.ts'
import type { Database } from '../../database/database.ts'
import { Arguments } from '../arguments.ts'
import { type Call, type Method, type ParameterType, type ProfileStore, result } from '../method.ts'
import { languageOf } from './commands.ts'

/** The database stores no U+0000 and no half of a character. */
const storable = (_: string, value: unknown) =>
  typeof value === 'string' ? value.replaceAll('\0', ' ').toWellFormed() : value

/** Names, texts and commands of bots, kept by the gateway because most networks keep none. */
export const profileStore = (db: Database): ProfileStore => ({
  async read(credentialId, name) {
    const [row] = await db.query<{ value: Json }>(
      'select value from bot_profile where credential_id = $1 and name = $2',
      [credentialId, name],
    )
    return row?.value
  },
  async write(credentialId, name, value) {
    await db.query(
      `insert into bot_profile (credential_id, name, value) values ($1, $2, $3)
        on conflict (credential_id, name) do update set value = excluded.value`,
      [credentialId, name, JSON.stringify(value, storable)],
    )
  },
  async remove(credentialId, name) {
    await db.query('delete from bot_profile where credential_id = $1 and name = $2', [
      credentialId,
      name,
    ])
  },
})

interface IdentitySource {
  identity(credentialId: number): Promise<AccountIdentity | undefined>
}

interface AccountIds {
  idOf(credentialId: number, native: string, facts: CredentialFacts | undefined): Promise<number>
}

interface RunningCredentials {
  platformOf(credentialId: number): Promise<Platform>
  factsOf(credentialId: number): CredentialFacts | undefined
}

/** Reads the account of a credential as getMe shows it. */
export const profiles =
  (store: IdentitySource, ids: AccountIds, credentials: RunningCredentials) =>
  async (credentialId: number): Promise<Json> =>
    profileOf(
      await store.identity(credentialId),
      await credentials.platformOf(credentialId),
      (native) => ids.idOf(credentialId, native, credentials.factsOf(credentialId)),
    )

/** `accountId` is the integer that stands for the account in this credential's chats. */
async function profileOf(
  identity: AccountIdentity | undefined,
  { capabilities }: Pick<Platform, 'capabilities'>,
  accountId: (native: string) => Promise<number>,
): Promise<Json> {
  if (!identity) throw failed('unauthorized')
  const { native, firstName, lastName, username } = identity
  const id = await accountId(native)
  return {
    id,
    is_bot: true,
    first_name: firstName,
    ...(lastName !== undefined && { last_name: lastName }),
    username: username ?? `user${id}`,
    can_join_groups: true,
    can_read_all_group_messages: true,
    can_connect_to_business: capabilities.operations.includes('for_business'),
    supports_inline_queries: capabilities.operations.includes('answer_inline'),
    supports_guest_queries: capabilities.operations.includes('answer_guest'),
    has_main_web_app: false,
    has_topics_enabled: false,
    allows_users_to_create_topics: false,
    can_manage_bots: false,
    supports_join_request_queries: false,
  }
}

const getMe: Method = {
  name: 'getMe',
  summary: 'The account behind the key',
  scope: undefined,
  operation: undefined,
  unlimited: true,
  parameters: {},
  required: [],
  run: async ({ key, world }) => result(await world.profile(key.facts.credentialId)),
}

interface Part {
  readonly name: string
  readonly summary: string
  /** The parameters that name the value, and the parameter that sets it. */
  readonly where: Readonly<Record<string, ParameterType>>
  readonly value: Readonly<Record<string, ParameterType>>
  /** The key of the stored value, such as its language or scope. */
  place(args: Arguments): string
  /** The key to read if there is no value for the first one. */
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
  place: (args) => `menu button ${args.has('chat_id') ? args.userId('chat_id') : ''}`,
}

const rights: Part = {
  name: 'MyDefaultAdministratorRights',
  summary: 'the rights asked for when the bot is made an administrator',
  where: { for_channels: 'boolean' },
  value: { rights: 'json' },
  place: (args) => `rights ${args.boolean('for_channels') ? 'channels' : 'groups'}`,
}

const atMost = (value: string | undefined, length: number, error: string): string => {
  if ([...(value ?? '')].length > length) throw failed('bad_request', error)
  return value ?? ''
}

/** Only the value without a language is the network's. */
const isOwn = ({ args }: Call) => !args.has('language_code')

const setName = setter(
  name,
  async (call) => {
    const firstName = atMost(call.args.text('name'), 64, 'BOT_TITLE_INVALID')
    if (isOwn(call)) {
      // Only the names for other languages can be taken away.
      if (firstName === '') throw failed('bad_request', 'BOT_TITLE_INVALID')
      await call.perform({ kind: 'set_name', firstName })
    }
    return firstName
  },
  'set_name',
)

const setShort = setter(
  short,
  async (call) => {
    const text = atMost(call.args.text('short_description'), 120, 'BOT_SHARETEXT_INVALID')
    if (isOwn(call)) await call.perform({ kind: 'set_about', about: text })
    return text
  },
  'set_about',
)

/** `what` names the parameter where it is no JSON, `type` where it is no object. */
function objectOf(args: Arguments, parameter: string, what: string, type: string): Json {
  const wrong = `can't parse ${what}: ${type} must be an Object`
  return args.has(parameter) ? (args.object(parameter, what, wrong) as Json) : {}
}

/** Where none is set for a chat, that of all chats applies; where none is set at all, the commands are listed. */
function menuButtonShown(kept: Json | undefined, { args }: Call): Json {
  const isSet = kept !== undefined && (kept as { readonly type?: Json }).type !== 'default'
  if (isSet) return kept
  return { type: args.has('chat_id') ? 'default' : 'commands' }
}

const MENU_BUTTONS = ['default', 'commands', 'web_app']

function menuButtonOf({ args }: Call): Json {
  const button = objectOf(args, 'menu_button', 'menu button', 'MenuButton') as {
    readonly type?: Json
  }
  const { type } = button
  if (type === undefined) return { type: 'default' }
  if (MENU_BUTTONS.some((known) => known === type)) return button
  throw failed('bad_request', "can't parse menu button: MenuButton has unsupported type")
}

const RIGHTS_TYPE = 'ChatAdministratorRights'

/** The rights asked for as the reference has them: those that the kind of chat knows, and no others. */
async function rightsOf({ args, platform, perform }: Call): Promise<Json> {
  const asked = objectOf(args, 'rights', RIGHTS_TYPE, RIGHTS_TYPE) as Readonly<Record<string, Json>>
  for (const name of ['is_anonymous', ...RIGHTS.map((right) => `can_${right}`)]) {
    if (typeof (asked[name] ?? false) !== 'boolean') {
      const problem = `Field "${name}" must be of type Boolean`
      throw failed('bad_request', `can't parse ${RIGHTS_TYPE}: ${problem}`)
    }
  }
  const wanted = Arguments.from(asked)
  const rights = rightsKnown(args).filter((right) => wanted.boolean(`can_${right}`))
  // Channels have no such right, because their posts name no author anyway.
  const isAnonymous = !args.boolean('for_channels') && wanted.boolean('is_anonymous')
  // A network without bots shows commands to no one: they are only stored for the bot to read.
  if (platform.capabilities.operations.includes('set_default_rights')) {
    await perform({
      kind: 'set_default_rights',
      inChannels: args.boolean('for_channels'),
      rights,
      isAnonymous,
    })
  }
  const given = rights.length > 0 || isAnonymous ? withManaging(rights) : []
  const names = [...given.map((right) => `can_${right}`), ...(isAnonymous ? ['is_anonymous'] : [])]
  return shownRights(args, (name) => names.includes(name))
}

/** The rights that the kind of chat asked for knows. */
const rightsKnown = (args: Arguments) =>
  rightsIn(args.boolean('for_channels') ? 'channel' : 'group')

function shownRights(args: Arguments, has: (name: string) => boolean): Json {
  const rights = rightsKnown(args).map((right) => `can_${right}`)
  const names = ['is_anonymous', ...rights, 'can_send_welcome_messages']
  return Object.fromEntries(names.map((name) => [name, has(name)]))
}

async function nameShown(kept: Json | undefined, { key, world }: Call): Promise<Json> {
  if (kept) return { name: kept }
  const profile = (await world.profile(key.facts.credentialId)) as { readonly first_name: string }
  return { name: profile.first_name }
}

export const profileMethods: readonly Method[] = [
  getMe,
  setName,
  getter(name, nameShown),
  setter(about, ({ args }) => atMost(args.text('description'), 512, 'BOT_DESC_INVALID')),
  getter(about, (kept = '') => ({ description: kept })),
  setShort,
  getter(short, (kept = '') => ({ short_description: kept })),
  setter(menuButton, menuButtonOf),
  getter(menuButton, menuButtonShown),
  setter(rights, rightsOf),
  getter(rights, (kept, { args }) =>
    shownRights(args, (name) => (kept as Record<string, Json> | undefined)?.[name] === true),
  ),
]
