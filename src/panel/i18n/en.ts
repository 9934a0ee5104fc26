/** The English catalogue: the one that all others must match, with words for every reason of the service. */

import type { Facts, FindingCode } from '../../../machines/diagnosis/facts.ts'
import type { SentWay } from '../../../machines/link/events.ts'
import type { FailureReason, LinkReason, Reason } from '../../../machines/model/reason.ts'
import type { Action } from '../../audit/actions.ts'
import account from './en/account.json'
import alerts from './en/alerts.json'
import audit from './en/audit.json'
import bots from './en/bots.json'
import bulk from './en/bulk.json'
import common from './en/common.json'
import credentials from './en/credentials.json'
import diagnosis from './en/diagnosis.json'
import facts from './en/facts.json'
import history from './en/history.json'
import invitation from './en/invitation.json'
import keys from './en/keys.json'
import linking from './en/linking.json'
import nodes from './en/nodes.json'
import own from './en/own.json'
import refusals from './en/refusals.json'
import sandbox from './en/sandbox.json'

/** Sentences with a count have a message for each plural. */
type Counted = {
  [Code in keyof Facts]: Facts[Code] extends { readonly count: number } ? Code : never
}[keyof Facts]

/** A word of the service without a message here is an error of the compiler. */
type Needed =
  | `reason.${LinkReason}`
  | `explained.${Reason}`
  | `refusal.${Exclude<FailureReason, Reason>}`
  | `fact.${Exclude<keyof Facts, Counted>}`
  | `fact.${Counted}.other`
  | `diagnosis.fix.${FindingCode}`
  | `way.${SentWay['code']}`
  | `audit.action.${Action}`

export const en = {
  ...common,
  ...credentials,
  ...bulk,
  ...alerts,
  ...linking,
  ...keys,
  ...sandbox,
  ...bots,
  ...nodes,
  ...own,
  ...account,
  ...audit,
  ...diagnosis,
  ...invitation,
  ...history,
  ...facts,
  ...refusals,
} satisfies Readonly<Record<Needed, string>>

export type MessageKey = keyof typeof en
export type Catalogue = Readonly<Record<MessageKey, string>>
