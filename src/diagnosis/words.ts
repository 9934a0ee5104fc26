/** The English sentences of diagnoses and health tests. */
import type { Sentence, Sentences } from '../../machines/diagnosis/facts.ts'
import { explained } from '../credentials/reasons.ts'

/** The noun with its count, and what goes on in singular or plural. */
const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`

const accountIs = (state: string) =>
  `The account is ${state === 'logged_out' ? 'signed out' : state}`

type Words = { readonly [Code in keyof Sentences]: (values: Sentences[Code]) => string }

const words: Words = {
  key_revoked: ({ at }) => `The key was revoked at ${at}`,
  key_expired: ({ at }) => `The key expired at ${at}`,
  user_suspended: ({ why }) => `An operator has suspended the user of the key: ${why}`,
  secret_wrong: () => 'The key that was given does not open this key',
  secret_right: () => 'The key that was given opens it',
  answers_as: ({ username }) => `getMe answers as @${username}`,
  scopes: ({ scopes }) => `The key has the scopes ${scopes}`,
  calls_refused: ({ scope }) =>
    `Calls were refused in the last ten minutes: the key lacks the scope ${scope}`,
  calls_refused_from: ({ address }) =>
    `Calls from ${address} were refused in the last ten minutes: the key may not be used there`,
  calls_paced: ({ count }) =>
    `${counted(count, 'call was', 'calls were')} answered with 429 in the last ten minutes: too much for the service, the network or a chat`,
  scope_missing: ({ scope }) => `The key lacks the scope ${scope}`,
  may_not_receive: ({ scope }) => `The key may not receive: it lacks the scope ${scope}`,

  credential_deleted: () => 'The account was deleted',
  state: ({ state }) => accountIs(state),
  // The reason follows, as a sentence of its own.
  state_reason: ({ state }) => accountIs(state),
  state_explained: ({ state, reason }) => `${accountIs(state)}: ${explained(reason, '').text}`,
  explained: ({ reason }) => explained(reason, '').text,
  connecting: () => explained(null, '').text,
  no_event: () => 'No event has come yet',
  last_event: ({ at }) => `The last event came at ${at}`,
  round_trip: ({ count }) => `A round trip took ${count} ms`,
  no_round_trip: () => 'A round trip was not answered',
  events_repeated: ({ count }) =>
    `${counted(count, 'event was', 'events were')} reported twice; each was delivered once`,
  events_disordered: ({ count }) =>
    `${counted(count, 'event', 'events')} came out of order; each chat kept its own order`,

  no_session_to_test: () => 'There is no session to test',
  no_session_to_ask: () => 'There is no session to ask',
  answered: () => 'The platform answered a round trip',
  signed_in: ({ name }) => `Signed in as ${name}`,
  nothing_arrives: () => 'Nothing can arrive without a working connection. No event has come yet',
  nothing_arrives_since: ({ at }) =>
    `Nothing can arrive without a working connection. The last event came at ${at}`,
  not_tried: () => 'Not tried: give send_to to send a message',

  no_target: () => 'No target was given',
  account_out: () => 'The account does not work: there is nothing to send through',
  message_sent: ({ to }) => `A message was sent to ${to}`,
  message_unconfirmed: ({ to }) => `The message to ${to} was handed over, but nobody confirmed it`,
  message_refused: ({ to, refusal }) => `The message to ${to} was refused: ${refusal}`,
  refusal: ({ refusal }) => refusal,
  restricted: ({ count }) =>
    `The platform takes no messages for ${counted(count, 'second', 'seconds')}`,

  polling_beside_webhook: ({ count }) =>
    `getUpdates was refused ${counted(count, 'time', 'times')} in the last ten minutes, because the webhook is active`,
  other_pollers: ({ count }) =>
    `getUpdates was cut off by another getUpdates ${counted(count, 'time', 'times')} in the last ten minutes`,
  receives_by_webhook: ({ url }) => `Updates are delivered to ${url}`,
  receives_by_polling: () => 'Updates are fetched by getUpdates; there is no webhook',
  nobody_receives: () => 'Nobody fetches updates at the moment; there is no webhook',
  kinds_left_out: ({ kinds }) =>
    `The newest updates are all of kinds that allowed_updates leaves out: ${kinds}`,
  offset_kept: ({ count, offset }) =>
    `The last ${counted(count, 'getUpdates', 'calls of getUpdates')} got updates and confirmed none of them: the offset is ${offset}`,
  offset_negative: ({ count, offset }) =>
    `The last ${counted(count, 'getUpdates', 'calls of getUpdates')} got updates, with the offset ${offset}: all that waits but the newest is dropped unread each time`,
  offset_ahead: ({ offset, newest }) =>
    `getUpdates is called with the offset ${offset}, while the newest update has the update_id ${newest}: nothing is confirmed`,

  pending: ({ count }) => counted(count, 'update waits', 'updates wait'),
  webhook: ({ url }) => `The webhook is ${url}`,
  last_answer: ({ status }) => `Its last answer was ${status}`,
  slow_answers: ({ count }) => `Its last answers took ${count} ms on average`,
  failures: ({ count }) => counted(count, 'attempt failed', 'attempts in a row failed'),
  last_error: ({ message, at }) => `${message} (${at})`,
  webhook_removed: ({ url }) =>
    `The webhook ${url} was removed: it answered for too long that it is gone`,
  dropped: ({ count, at }) =>
    `${counted(count, 'update was', 'updates were')} dropped unread at ${at}`,
  oldest_waits: ({ at }) => `The oldest update that waits came at ${at}`,

  make_key: () => 'Make a new key with POST /api_keys and give it to your bot',
  extend_key: ({ key }) => `Set a later expiry, or none, with PATCH /api_keys/${key}`,
  end_suspension: () =>
    'An operator ends the suspension with POST /users/{id}/unsuspend; what has waited is delivered then',
  use_shown_key: ({ key }) =>
    `Use the key as it was shown when it was made; if it is lost, POST /api_keys/${key}/rotate gives a new one`,
  add_scope: ({ scope, key }) => `Add ${scope} to the scopes with PATCH /api_keys/${key}`,
  add_scope_or_use_other: ({ scope, key }) =>
    `Add ${scope} to the scopes with PATCH /api_keys/${key}, or use another key for these calls`,
  allow_address: ({ address, key }) =>
    `Add ${address} to allowed_ips with PATCH /api_keys/${key}. If your bot is not there, somebody else has the key: POST /api_keys/${key}/rotate gives a new one`,
  heed_retry_after: () =>
    'Let the bot wait for the retry_after of such an answer before it goes on, and call less often',
  link_and_make_key: () => 'Link the account again and make a key for it',
  explained_remedy: ({ reason, action }) => explained(reason, action).remedy,
  action: ({ action }) => explained(null, action).remedy,
  expect_slowness: () => 'The platform answers slowly: expect time-outs, and wait',
  nothing_to_do: () => 'Nothing to do: the service has put it right',
  give_target: () => 'Give send_to, such as "@name", to send a message',
  look_before_sending: () => 'Look whether it arrived before you send again: it may have',
  send_less: () => 'Wait as long, and send less',
  wait: () => 'Wait: the service keeps trying by itself',
  check_account: () => 'Check that the account is linked and may write to the chat',
  check_chat: () => 'Check that the chat exists and the account may write to it',
  stop_polling: () => STOP_POLLING,
  polling_is_over: () => over(STOP_POLLING),
  run_one: () => RUN_ONE,
  others_are_over: () => over(RUN_ONE),
  start_receiving: () => 'Call getUpdates, or set a webhook',
  name_kinds: ({ kinds }) =>
    `Name ${kinds} in allowed_updates of getUpdates or setWebhook; it counts for what comes from then on`,
  move_offset: () =>
    'Call getUpdates with an offset one above the highest update_id that the bot has worked off. If it is meant to do that, it may fail at the oldest update each time',
  skip_once: () =>
    'Use a negative offset only once, to skip what waits; then call getUpdates with an offset one above the highest update_id that the bot has worked off',
  begin_without_offset: () =>
    'Let the bot begin without an offset: the one that it kept is of another account, or of a time that the database has forgotten',
  compare_secrets: () =>
    'Your endpoint refuses the requests: compare its secret_token with the one given to setWebhook. If they are the same, look at what stands before it, such as a proxy that asks for a password',
  correct_address: () =>
    'Your endpoint says that it is gone: call setWebhook with the address that is right',
  set_final_address: () =>
    'Your endpoint redirects, and no redirect is followed: call setWebhook with the address that it leads to',
  take_posts: () =>
    'Your endpoint takes no POST at this address: correct its path, or call setWebhook with the address that is right. The service keeps trying',
  answer_at_once: () =>
    'Answer first and work afterwards: the next update of a chat is sent after the answer to the one before',
  mend_and_set: () =>
    'Mend the endpoint, then call setWebhook again: what still waits is delivered then',
  mend: () =>
    'Mend the endpoint: it must be reachable, with a certificate that is trusted, and answer 2xx in time. The service keeps trying',
  set_correct_address: () => 'Call setWebhook with the address that is right',
  receive_more_often: () => 'Receive more often: updates are kept for a limited time',
  fetch_more: () =>
    'Work updates off faster, or fetch more with each getUpdates (limit up to 100): updates are kept for a limited time',
}

const STOP_POLLING = 'Stop the client that polls, or remove the webhook with deleteWebhook'
const RUN_ONE = 'Run one instance of the bot, or give every instance a key of its own'

const over = (remedy: string) => `It is over. Should it come again: ${remedy}`

/** The English sentence; text of an older version is one already. */
export function inWords(sentence: Sentence | string): string {
  if (typeof sentence === 'string') return sentence
  // The code chooses the function for exactly these values.
  const word = words[sentence.code] as (values: object) => string
  return word(sentence.params)
}

/** What to do, said to whoever reads it: an account that is shared with them is its owner's to link and to restart. */
export function remedyInWords(remedy: Sentence | string, isShared: boolean): string {
  const text = inWords(remedy)
  return isShared && isOfOwner(remedy)
    ? `Ask the owner of the account, since a share does not allow it: ${text}`
    : text
}

function isOfOwner(remedy: Sentence | string): boolean {
  if (typeof remedy === 'string') return false
  switch (remedy.code) {
    case 'explained_remedy':
      return explained(remedy.params.reason, remedy.params.action).isOfOwner === true
    case 'action':
      return explained(null, remedy.params.action).isOfOwner === true
    default:
      return remedy.code === 'link_and_make_key'
  }
}

/** The same for programs and translators; null for text of an older version. */
export const codeOf = (sentence: Sentence | string) =>
  typeof sentence === 'string' ? null : { code: sentence.code, params: { ...sentence.params } }
