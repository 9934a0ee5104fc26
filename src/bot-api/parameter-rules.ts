/** Decides for each parameter of the reference: executed, cosmetic, or refused with a reason. */
import type { Capabilities, Platform } from '../../actors/ports/platform.ts'
import type { ContentName } from '../../machines/model/content.ts'
import { failed } from '../../machines/model/failure.ts'
import type { OperationKind } from '../../machines/model/operation.ts'
import type { Arguments } from './arguments.ts'
import type { Method } from './method.ts'
import { METHODS_BEYOND, type ParameterName, reference } from './reference.ts'

/** The subjects of methods, by patterns of their names; the first match counts. */
const SUBJECTS: readonly (readonly [RegExp, subject: string])[] = [
  [/^getChats$/, 'list of chats'],
  [/^getChatHistory$/, 'history to read'],
  [/^markAsRead$/, 'marks of what is read'],
  [/^resolvePhone$/, 'phone numbers'],
  [/Game/, 'games'],
  [/Business/, 'business accounts'],
  [/Gift|giftPremium/, 'gifts'],
  [/Ephemeral/, 'messages that one member of a chat alone can see'],
  [/Inline|GuestQuery/, 'inline mode'],
  [/Widget/, 'widgets'],
  [/WebApp|KeyboardButton/, 'web apps'],
  [/Invoice|Payment|Star|ShippingQuery|PreCheckout|PaidMedia|Subscription/, 'payments'],
  [/Passport/, 'passports'],
  [/[Vv]erif/, 'verification by bots'],
  [/ManagedBot/, 'bots that manage bots'],
  [/Story/, 'stories'],
  [/Checklist/, 'checklists'],
  [/SuggestedPost/, 'suggested posts'],
  [/Rich/, 'rich messages'],
  [/LivePhoto/, 'live photos'],
  [/Draft/, 'drafts that others see'],
  [/EmojiStatus/, 'emoji statuses'],
  [/Sticker|Emoji/, 'sticker sets'],
  [/GeneralForumTopic/, 'general topics'],
  [/ForumTopic/, 'topics'],
  [/Poll/, 'polls'],
  [/Dice/, 'dice'],
  [/Reaction/, 'reactions of this kind'],
  [/LiveLocation|Venue/, 'places of this kind'],
  [/VideoNote/, 'video notes'],
  [/InviteLink|JoinRequest/, 'invite links of this kind'],
  [/[pP]in/, 'pinned messages'],
  [/ReplyMarkup|CallbackQuery/, 'inline keyboards'],
  [/Tag|CustomTitle/, 'titles of members'],
  [/ChatSenderChat/, 'bans of channels'],
  [/PersonalChat/, 'personal channels'],
  [/ProfilePhoto/, 'profile photos'],
  [/ProfileAudio/, 'music in profiles'],
  [/ChatPhoto/, 'photos of chats'],
  [/Permissions|restrict/, 'permissions of this kind'],
  [/^setMy/, 'profile that can be set'],
]

/** On Telegram itself, people's accounts may do less than bots. */
const FOR_BOTS =
  /Game|Inline|GuestQuery|WebApp|KeyboardButton|Widget|Invoice|Shipping|PreCheckout|Payment|Passport|[Vv]erif|ManagedBot|Business|Ephemeral|CallbackQuery|ReplyMarkup|Rich|Draft|Subscription/

export function methodRefused(platform: Platform, method: string): Error {
  const subject = SUBJECTS.find(([names]) => names.test(method))?.[1]
  const reason =
    remedyFor(platform, method) ??
    reasonFor(platform, subject ? `no ${subject}` : 'nothing like it')
  return failed('bad_request', `method ${method} not found on ${platform.name}: ${reason}`)
}

/** Telegram lets bots do some things, and people others. */
function remedyFor({ capabilities }: Platform, method: string): string | undefined {
  if (capabilities.reference === 'people' && FOR_BOTS.test(method)) {
    return "only bots may; link a bot's token instead"
  }
  const isForPeople = METHODS_BEYOND.some((name) => name === method)
  if (capabilities.reference !== 'bots' || !isForPeople) return undefined
  return "only people's accounts may; link one instead"
}

/** `lacking` names the feature that a network lacks: "no games". */
function reasonFor({ capabilities }: Platform, lacking: string): string {
  switch (capabilities.reference) {
    case 'people':
      return "the gateway does not do it with a person's account"
    default:
      return `the network has ${lacking}`
  }
}

/**
 * `refused`: it changes who sees a message, where, when, at what price, or what it says. `cosmetic`: a call without it
 * does the same but for its looks, so it is passed over and listed in docs/platforms.md.
 */
export type Treatment = 'carried out' | 'refused' | 'cosmetic'

type ByParameter<Value> = Readonly<Partial<Record<ParameterName, Value>>>

/** The feature that a network lacks if it cannot carry out a parameter. */
const LACKING: ByParameter<string> = {
  ephemeral_message_parameters: 'no messages that one member of a chat alone can see',
  allow_paid_broadcast: 'no paid broadcasts',
  direct_messages_topic_id: 'no direct messages of channels',
  suggested_post_parameters: 'no suggested posts',
  message_effect_id: 'no effects',
  inline_message_id: 'no inline mode',
  rich_message: 'no rich messages',
  description: 'no descriptions of polls',
  description_entities: 'no descriptions of polls',
  description_parse_mode: 'no descriptions of polls',
  can_send_welcome_messages: 'no such right',
  business_connection_id: 'no business accounts',
  reply_markup: 'no keyboards',
  message_thread_id: 'no topics',
  live_period: 'no live locations',
  heading: 'no live locations',
  proximity_alert_radius: 'no live locations',
}

type Flag = 'buttons' | 'effects' | 'pollDescriptions'
type Ability = OperationKind | ContentName | Flag

/** Parameters that some networks do not carry out although the method reads them. */
const NEEDED: ByParameter<Ability> = {
  business_connection_id: 'for_business',
  ephemeral_message_parameters: 'send_ephemeral',
  inline_message_id: 'edit_inline',
  direct_messages_topic_id: 'approve_post',
  suggested_post_parameters: 'approve_post',
  message_effect_id: 'effects',
  message_thread_id: 'create_topic',
  live_period: 'edit_location',
  heading: 'edit_location',
  proximity_alert_radius: 'edit_location',
  reply_markup: 'buttons',
}

/** The same for parameters whose names mean something else in other methods. */
const NEEDED_IN: Readonly<Record<string, ByParameter<Ability>>> = {
  sendPoll: {
    description: 'pollDescriptions',
    description_parse_mode: 'pollDescriptions',
    description_entities: 'pollDescriptions',
  },
}

const FLAGS: readonly Ability[] = ['buttons', 'effects', 'pollDescriptions'] satisfies Flag[]

const isFlag = (ability: Ability): ability is Flag => FLAGS.includes(ability)

const hasAbility = (capabilities: Capabilities, ability: Ability): boolean => {
  const { operations, content } = capabilities
  return isFlag(ability)
    ? capabilities[ability] === true
    : [...operations, ...content].some((one: OperationKind | ContentName) => one === ability)
}

/** Parameters that are refused by their values: the code that reads them refuses them in the reference's words. */
const JUDGED: readonly string[] = ['business_connection_id', 'message_thread_id', 'reply_markup']

/** Older names of parameters; some libraries still send them. */
const FORMERLY: Readonly<Record<string, ParameterName>> = {
  receiver_user_id: 'ephemeral_message_parameters',
  callback_query_id: 'ephemeral_message_parameters',
}

/** Ignored on every platform. */
const COSMETIC: readonly string[] = [
  'cache_time',
  'disable_content_type_detection',
  'supports_streaming',
] satisfies ParameterName[]

/** Values that libraries send for parameters that their caller did not set. */
const NOT_ASKED = ['', 'false', 'no', '0', 'null', '[]', '{}']

type Named = Pick<Method, 'name' | 'parameters'>

/** The current name of the parameter; undefined if neither the reference nor the method knows it. */
function currentName({ name, parameters }: Named, parameter: string): string | undefined {
  if (Object.hasOwn(parameters, parameter) || isKnown(name, parameter)) return parameter
  const current = FORMERLY[parameter]
  return isKnown(name, current ?? '') ? current : undefined
}

/** Each call asks for each of its parameters. */
const known = new Map<string, ReadonlySet<string>>(
  [...reference].map(([method, parameters]) => [
    method,
    new Set(parameters.map(({ name }) => name)),
  ]),
)

const isKnown = (method: string, parameter: string): boolean =>
  known.get(method)?.has(parameter) ?? false

/** Undefined for a parameter that the reference does not know: those are ignored, as the reference does. */
export function treatmentOf(
  { capabilities }: Pick<Platform, 'capabilities'>,
  method: Named,
  parameter: string,
): Treatment | undefined {
  if (capabilities.passesThrough) return 'carried out'
  const name = currentName(method, parameter)
  if (name === undefined) return undefined
  if (!(name in method.parameters)) return COSMETIC.includes(name) ? 'cosmetic' : 'refused'
  const needed = NEEDED_IN[method.name]?.[name as ParameterName] ?? NEEDED[name as ParameterName]
  if (needed && !hasAbility(capabilities, needed)) return 'refused'
  return capabilities.cosmetic?.includes(name) ? 'cosmetic' : 'carried out'
}

/** Each parameter that the reference has for the method, older names included. */
export function parametersKnown(method: string): readonly string[] {
  const names: string[] = (reference.get(method) ?? []).map(({ name }) => name)
  const older = Object.keys(FORMERLY).filter((name) => names.includes(FORMERLY[name] ?? ''))
  return [...names, ...older.filter((name) => !names.includes(name))]
}

/** Why a platform does not carry the parameter out; undefined where no reason is known. */
export function reasonAgainst(platform: Platform, method: Named, parameter: string) {
  const lacking = LACKING[currentName(method, parameter) as ParameterName]
  return lacking && reasonFor(platform, lacking)
}

/** Whether the groups of a network have threads. */
export const hasTopics = ({ capabilities }: Pick<Platform, 'capabilities'>): boolean =>
  capabilities.operations.includes('create_topic')

/** Throws for a call with a parameter that could not be carried out. */
export function assertParameters(platform: Platform, method: Method, args: Arguments): void {
  for (const parameter of args.names()) {
    if (treatmentOf(platform, method, parameter) !== 'refused') continue
    if (JUDGED.includes(parameter)) continue
    if (NOT_ASKED.includes((args.text(parameter) ?? '').trim().toLowerCase())) continue
    const reason =
      reasonAgainst(platform, method, parameter) ?? reasonFor(platform, 'no such thing')
    throw failed(
      'bad_request',
      `parameter "${parameter}" is not supported on ${platform.name}: ${reason}`,
    )
  }
}
