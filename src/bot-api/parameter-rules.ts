/** Decides for each parameter of the reference: executed, cosmetic, or refused with a reason. */
import type { Platform } from '../../actors/ports/platform.ts'
import { failed } from '../../machines/model/failure.ts'
import type { OperationKind } from '../../machines/model/operation.ts'
import type { Arguments } from './arguments.ts'
import type { Method } from './method.ts'
import { METHODS_BEYOND, reference } from './reference.ts'

/** What a method is about, by its name; the first that fits counts. */
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
  [/WebApp|KeyboardButton|Widget/, 'web apps'],
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
  [/Sticker|Emoji/, 'sticker sets'],
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
]

/** On the reference's own network a person's account may do less than a bot. */
const FOR_BOTS =
  /Game|Inline|GuestQuery|WebApp|KeyboardButton|Widget|Invoice|Shipping|PreCheckout|Payment|Passport|[Vv]erif|ManagedBot|Business|Ephemeral|CallbackQuery|ReplyMarkup|Rich|Draft/

export function methodRefused(platform: Platform, method: string): Error {
  const subject = SUBJECTS.find(([names]) => names.test(method))?.[1]
  const reason =
    remedyFor(platform, method) ??
    reasonFor(platform, subject ? `no ${subject}` : 'nothing like it')
  return failed('bad_request', `method ${method} not found on ${platform.name}: ${reason}`)
}

/** The reference's own network lets bots do some things and people others. */
function remedyFor({ capabilities }: Platform, method: string): string | undefined {
  if (capabilities.reference === 'people' && FOR_BOTS.test(method)) {
    return "only bots may; link a bot's token instead"
  }
  const isForPeople = METHODS_BEYOND.some((name) => name === method)
  if (capabilities.reference !== 'bots' || !isForPeople) return undefined
  return "only people's accounts may; link one instead"
}

/** `lacking` names what another network would have to have, with a "no" before it. */
function reasonFor({ capabilities }: Platform, lacking: string): string {
  switch (capabilities.reference) {
    case 'bots':
      return 'the gateway does not pass it on yet'
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

/** Parameters that no method here reads, and what they would have asked the network for. */
const REFUSED: Readonly<Record<string, string>> = {
  ephemeral_message_parameters: 'no messages that one member of a chat alone can see',
  receiver_user_id: 'no messages that one member of a chat alone can see',
  allow_paid_broadcast: 'no paid broadcasts',
  direct_messages_topic_id: 'no direct messages of channels',
  suggested_post_parameters: 'no suggested posts',
  message_effect_id: 'no effects',
  inline_message_id: 'no inline mode',
  rich_message: 'no rich messages',
  allow_adding_options: 'no polls whose options others may add',
  country_codes: 'no polls for some countries alone',
  members_only: 'no polls for members alone',
  hide_results_until_closes: 'no polls that hide their results',
  description: 'no descriptions of polls',
  description_entities: 'no descriptions of polls',
  media: 'no media in polls',
  explanation_media: 'no media in polls',
  can_send_welcome_messages: 'no such right',
}

/** Older names of what the reference calls otherwise now; some libraries still send them. */
const FORMERLY: Readonly<Record<string, string>> = {
  receiver_user_id: 'ephemeral_message_parameters',
  callback_query_id: 'ephemeral_message_parameters',
}

/** Parameters that only platforms with this operation can carry out. */
const NEEDED: Readonly<Record<string, OperationKind>> = { inline_message_id: 'edit_inline' }

/** Passed over on every platform. */
const COSMETIC: readonly string[] = [
  'allows_revoting',
  'cache_time',
  'can_stop',
  'cover',
  'description_parse_mode',
  'disable_content_type_detection',
  'keep_on_stop',
  'return_bots',
  'shuffle_options',
  'start_timestamp',
  'supports_streaming',
  'video_start_timestamp',
]

/** A choice that is not made: what libraries write for parameters that their caller left alone. */
const NOT_ASKED = ['', 'false', 'no', '0', 'null', '[]', '{}']

const parametersOf = (method: string): readonly string[] =>
  (reference[method] ?? '').split(' ').filter((name) => name !== '')

/** Undefined for a parameter that the reference does not know: those are ignored, as the reference does. */
export function treatmentOf(
  { capabilities }: Pick<Platform, 'capabilities'>,
  { name, parameters }: Pick<Method, 'name' | 'parameters'>,
  parameter: string,
): Treatment | undefined {
  if (parameter in parameters) {
    const needed = NEEDED[parameter]
    if (needed && !capabilities.operations.includes(needed)) return 'refused'
    return capabilities.cosmetic?.includes(parameter) ? 'cosmetic' : 'carried out'
  }
  const known = parametersOf(name)
  const isKnown = known.includes(parameter) || known.includes(FORMERLY[parameter] ?? '')
  if (!isKnown) return undefined
  return COSMETIC.includes(parameter) ? 'cosmetic' : 'refused'
}

/** Each parameter that the reference has for the method, older names included. */
export function parametersKnown(method: string): readonly string[] {
  const names = parametersOf(method)
  const older = Object.keys(FORMERLY).filter((name) => names.includes(FORMERLY[name] ?? ''))
  return [...names, ...older.filter((name) => !names.includes(name))]
}

/** Rejects a call that asks for something which would be left undone. */
export function assertParameters(platform: Platform, method: Method, args: Arguments): void {
  for (const parameter of args.names()) {
    if (treatmentOf(platform, method, parameter) !== 'refused') continue
    if (NOT_ASKED.includes((args.text(parameter) ?? '').trim().toLowerCase())) continue
    const lacking = REFUSED[FORMERLY[parameter] ?? parameter] ?? 'no such thing'
    const reason = reasonFor(platform, lacking)
    throw failed(
      'bad_request',
      `parameter "${parameter}" is not supported on ${platform.name}: ${reason}`,
    )
  }
}
