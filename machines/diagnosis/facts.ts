/** Findings of a diagnosis or a health test as codes with values: `src/diagnosis/words.ts` makes English sentences of them. */
import type { FailureCode } from '../model/protocol.ts'
import type { FailureReason, Reason } from '../model/reason.ts'

type None = Readonly<Record<never, never>>
type Count = { readonly count: number }
type At = { readonly at: string }
type Scope = { readonly scope: string }
type To = { readonly to: string }
type Url = { readonly url: string }
type Address = { readonly address: string }
type Offset = { readonly offset: number }
type Kinds = { readonly kinds: string }
type Key = { readonly key: number }
/** The words of a network or of the service itself; `reason` where they have a code. */
type Refusal = { readonly refusal: string; readonly reason?: FailureReason }

/** Observations: each code with the values of its sentence. */
export interface Facts {
  readonly key_revoked: At
  readonly key_expired: At
  readonly user_suspended: { readonly why: string }
  readonly secret_wrong: None
  readonly secret_right: None
  readonly answers_as: { readonly username: string }
  readonly scopes: { readonly scopes: string }
  readonly calls_refused: Scope
  readonly calls_refused_from: Address
  readonly calls_paced: Count
  readonly scope_missing: Scope
  readonly may_not_receive: Scope

  readonly credential_deleted: None
  readonly state: { readonly state: string }
  readonly state_reason: { readonly state: string; readonly reason: string }
  readonly state_explained: { readonly state: string; readonly reason: string }
  readonly explained: { readonly reason: string }
  readonly connecting: None
  readonly no_event: None
  readonly last_event: At
  readonly round_trip: Count
  readonly no_round_trip: None
  readonly events_repeated: Count
  readonly events_disordered: Count

  readonly no_session_to_test: None
  readonly no_session_to_ask: None
  readonly answered: None
  readonly signed_in: { readonly name: string }
  readonly nothing_arrives: None
  readonly nothing_arrives_since: At
  readonly not_tried: None

  readonly no_target: None
  readonly account_out: None
  readonly message_sent: To
  readonly message_unconfirmed: To
  readonly message_refused: To & Refusal
  readonly refusal: Refusal
  readonly restricted: Count

  readonly polling_beside_webhook: Count
  readonly other_pollers: Count
  readonly receives_by_webhook: Url
  readonly receives_by_polling: None
  readonly nobody_receives: None
  readonly kinds_left_out: Kinds
  readonly offset_kept: Count & Offset
  readonly offset_negative: Count & Offset
  readonly offset_ahead: Offset & { readonly newest: number }

  readonly pending: Count
  readonly webhook: Url
  readonly last_answer: { readonly status: number }
  readonly failures: Count
  readonly slow_answers: Count
  readonly last_error: { readonly message: string } & At
  readonly webhook_removed: Url
  readonly dropped: Count & At
  readonly oldest_waits: At
}

/** Remedies: each code with the values of its sentence. */
interface Remedies {
  readonly make_key: None
  readonly extend_key: Key
  readonly end_suspension: None
  readonly use_shown_key: Key
  readonly add_scope: Scope & Key
  readonly add_scope_or_use_other: Scope & Key
  readonly allow_address: Address & Key
  readonly heed_retry_after: None
  readonly link_and_make_key: None
  readonly explained_remedy: { readonly reason: string; readonly action: string }
  readonly action: { readonly action: string }
  readonly expect_slowness: None
  readonly nothing_to_do: None
  readonly give_target: None
  readonly look_before_sending: None
  readonly send_less: None
  readonly wait: None
  readonly check_account: None
  readonly check_chat: None
  readonly stop_polling: None
  readonly polling_is_over: None
  readonly run_one: None
  readonly others_are_over: None
  readonly start_receiving: None
  readonly name_kinds: Kinds
  readonly move_offset: None
  readonly skip_once: None
  readonly begin_without_offset: None
  readonly compare_secrets: None
  readonly correct_address: None
  readonly set_final_address: None
  readonly take_posts: None
  readonly answer_at_once: None
  readonly mend_and_set: None
  readonly mend: None
  readonly set_correct_address: None
  readonly receive_more_often: None
  readonly fetch_more: None
}

export interface Sentences extends Facts, Remedies {}

/** A sentence that is not made yet. */
export type Sentence = {
  [Code in keyof Sentences]: { readonly code: Code; readonly params: Sentences[Code] }
}[keyof Sentences]

/** The states that an account shows while it does not work for no reason in particular. */
type AccountState =
  | 'connecting'
  | 'degraded'
  | 'logged_out'
  | 'invalid'
  | 'failed'
  | 'deactivated'
  | 'active'

/** Codes of findings, for programs. */
export type FindingCode =
  | Reason
  | AccountState
  | Exclude<FailureCode, 'rate_limited'>
  | 'address_not_allowed'
  | 'bot_behind'
  | 'calls_too_fast'
  | 'chat_not_found'
  | 'credential_deleted'
  | 'endpoint_failing'
  | 'endpoint_gone'
  | 'endpoint_not_found'
  | 'endpoint_redirects'
  | 'endpoint_slow'
  | 'events_disordered'
  | 'events_repeated'
  | 'key_expired'
  | 'key_revoked'
  | 'missing_scope'
  | 'nobody_receives'
  | 'offset_ahead'
  | 'offset_kept'
  | 'offset_negative'
  | 'outcome_unknown'
  | 'polling_and_webhook'
  | 'secret_refused'
  | 'slow'
  | 'two_pollers'
  | 'updates_dropped'
  | 'updates_left_out'
  | 'user_suspended'
  | 'webhook_suspended'
  | 'webhook_turned_off'
  | 'wrong_secret'
