/** The records of the management API, derived from the schemas that the routes answer by, and the names of an account. */
import type { Static } from 'typebox'
import type * as account from '../../records/account.ts'
import type * as alert from '../../records/alert.ts'
import type * as apiKey from '../../records/api-key.ts'
import type * as audit from '../../records/audit.ts'
import type * as credential from '../../records/credential.ts'
import type * as link from '../../records/link.ts'
import type * as node from '../../records/node.ts'
import type * as usage from '../../records/usage.ts'

export interface RecordPage<Item> {
  readonly items: readonly Item[]
  readonly next_before: string | null
}

export type User = Static<typeof account.User>
export type OwnUser = Static<typeof account.OwnUser>
export type StaffUser = Static<typeof account.StaffUser>
export type SignIn = Static<typeof account.Session>
export type Token = Static<typeof account.Token>
export type IssuedToken = Static<typeof account.IssuedToken>
export type SentCode = Static<typeof account.SentCode>
export type Share = account.ShareRecord
export type ReceivedShare = credential.ReceivedShare

export type Credential = credential.CredentialRecord
export type Settings = Credential['settings']
export type Summary = Static<typeof credential.CredentialSummary>
export type CredentialGroups = Static<typeof credential.CredentialGroups>
export type BulkAction = Static<typeof credential.BulkActionRecord>
export type RelinkPage = Static<typeof credential.RelinkPageRecord>
export type SavedView = Static<typeof credential.SavedViewRecord>
export type BulkItem = Static<typeof credential.BulkItemRecord>
export type Change = Static<typeof credential.CredentialChange>
export type AuditedChange = audit.AuditRecord
export type Transition = Static<typeof credential.TransitionRecord>
export type LiveTransition = Static<typeof credential.LiveTransition>
export type Chart = credential.Chart
export type ChartState = Chart['states'][number]
export type ChartTransition = Chart['transitions'][number]
export type HealthReport = Static<typeof credential.HealthReport>

export type Incident = alert.IncidentRecord
export type IncidentItem = alert.IncidentItem
export type IncidentSummary = alert.IncidentSummary
export type AlertSettings = alert.AlertSettingsRecord
export type Notification = alert.NotificationRecord

export type Node = node.NodeRecord
export type Pin = Static<typeof node.PinRecord>

export type ApiKey = apiKey.ApiKeyRecord
export type Backlog = Static<typeof apiKey.Backlog>
export type Delivery = Static<typeof apiKey.Delivery>
export type ExchangeChoices = Static<typeof apiKey.ExchangeChoices>
export type WebhookExchanges = Static<typeof apiKey.WebhookExchanges>
export type Resend = Static<typeof apiKey.ResendRecord>
export type SigningSecret = Static<typeof apiKey.SigningSecretRecord>
export type TestAttempt = Static<typeof apiKey.TestAttempt>

export type Platform = Static<typeof link.PlatformRecord>
export type LinkField = Platform['link'][number]['fields'][number]
export type OpenLink = Static<typeof link.OpenLinkRecord>
export type LinkSession = Static<typeof link.LinkRecord>

export type Diagnosis = Omit<Static<typeof apiKey.DiagnosisRecord>, 'steps'> & {
  readonly steps: readonly DiagnosisStep[]
}
export type DiagnosisStep = Static<typeof apiKey.StepRecord> & { readonly verdict: Verdict }

export type Verdict = 'pending' | 'passed' | 'failed' | 'skipped'

export type UsageReport = Static<typeof usage.UsageReport>
export type Usage = UsageReport['totals']
export type ApiRequest = Static<typeof usage.ApiRequest>
export type CausedUpdates = Static<typeof usage.CausedUpdates>
export type CallExchange = Static<typeof usage.CallExchange>

export function nameOf({ account }: Pick<Credential, 'account'>): string {
  const { first_name, last_name, username } = account
  return [first_name, last_name].filter(Boolean).join(' ') || username || `${account.id}`
}

export function handleOf({ account }: Pick<Credential, 'account'>): string {
  return account.username ? `@${account.username}` : (account.phone ?? `${account.id}`)
}
