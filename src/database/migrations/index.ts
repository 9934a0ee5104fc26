/** Every migration in the order in which it runs. A new one is a file `NNNN-name.ts` and a line here. */
import type { Migration } from '@mikro-orm/migrations'
import { Accounts } from './0001-accounts.ts'
import { Credentials } from './0002-credentials.ts'
import { Sandbox } from './0003-sandbox.ts'
import { RequestLog } from './0004-request-log.ts'
import { Links } from './0005-links.ts'
import { UpdateBlocks } from './0006-update-blocks.ts'
import { Deletions } from './0007-deletions.ts'
import { Webhooks } from './0008-webhooks.ts'
import { Media } from './0009-media.ts'
import { SandboxRest } from './0010-sandbox-rest.ts'
import { BotProfile } from './0011-bot-profile.ts'
import { Diagnoses } from './0012-diagnoses.ts'
import { Telegram } from './0013-telegram.ts'
import { LinkPagesTable } from './0014-link-pages.ts'
import { TimelineRepeats } from './0015-timeline-repeats.ts'
import { SandboxForums } from './0016-sandbox-forums.ts'
import { Stories } from './0017-stories.ts'
import { SandboxKeyboards } from './0018-sandbox-keyboards.ts'
import { EpochOfTheRow } from './0019-epoch-of-the-row.ts'
import { BoundChallenges } from './0021-bound-challenges.ts'
import { ShownUrls } from './0022-shown-urls.ts'
import { SealedAccounts } from './0023-sealed-accounts.ts'
import { Erasures } from './0024-erasures.ts'
import { SandboxNetworks } from './0025-sandbox-networks.ts'
import { WriteProbe } from './0027-write-probe.ts'
import { XmppRooms } from './0029-xmpp-rooms.ts'
import { LinkTargets } from './0034-link-targets.ts'
import { RequestReasons } from './0035-request-reasons.ts'
import { DefaultKinds } from './0036-default-kinds.ts'
import { SandboxInline } from './0040-sandbox-inline.ts'
import { SandboxPreparedKeys } from './0041-sandbox-prepared-keys.ts'
import { SandboxPayments } from './0042-sandbox-payments.ts'
import { SandboxStickerSets } from './0044-sandbox-sticker-sets.ts'
import { SandboxAdministration } from './0045-sandbox-administration.ts'
import { SandboxBusiness } from './0046-sandbox-business.ts'
import { SandboxSubscriptions } from './0047-sandbox-subscriptions.ts'
import { IdempotentCalls } from './0048-idempotent-calls.ts'
import { MessageAttributes } from './0049-message-attributes.ts'
import { EphemeralMessages } from './0050-ephemeral-messages.ts'
import { SandboxReadMarks } from './0052-sandbox-read-marks.ts'
import { SandboxBots } from './0053-sandbox-bots.ts'
import { SandboxStoppedDrafts } from './0061-sandbox-stopped-drafts.ts'
import { SandboxPaidMedia } from './0062-sandbox-paid-media.ts'
import { DirectMessages } from './0063-direct-messages.ts'
import { SandboxDefaultRights } from './0065-sandbox-default-rights.ts'
import { SandboxDeliveryMarks } from './0066-sandbox-delivery-marks.ts'
import { SandboxCommunities } from './0067-sandbox-communities.ts'
import { LogFilters } from './0070-log-filters.ts'
import { UsageTotals } from './0071-usage-totals.ts'
import { IdentityChanges } from './0072-identity-changes.ts'
import { ListOrders } from './0073-list-orders.ts'
import { Incidents } from './0076-incidents.ts'
import { Nodes } from './0083-nodes.ts'
import { Owners } from './0084-owners.ts'
import { LogIndexes } from './0087-log-indexes.ts'
import { LogIndexesReplaced } from './0088-log-indexes-replaced.ts'
import { WebhookExchanges } from './0091-webhook-exchanges.ts'
import { WebhookResends } from './0092-webhook-resends.ts'
import { BulkActions } from './0096-bulk-actions.ts'
import { SandboxAudio } from './0107-sandbox-audio.ts'
import { LinkNode } from './0110-link-node.ts'
import { RelinkPagesTable } from './0111-relink-pages.ts'
import { SavedViews } from './0112-saved-views.ts'
import { Tags } from './0113-tags.ts'
import { AlertNotifications } from './0114-alert-notifications.ts'
import { AlertRules } from './0115-alert-rules.ts'
import { NodeOrders } from './0118-node-orders.ts'
import { NodeCommon } from './0119-node-common.ts'
import { NodeFigures } from './0120-node-figures.ts'
import { NodeEnds } from './0121-node-ends.ts'
import { RollingUpgrades } from './0125-rolling-upgrades.ts'
import { KeyTroubles } from './0127-key-troubles.ts'
import { CallExchanges } from './0128-call-exchanges.ts'
import { BacklogMinutes } from './0130-backlog-minutes.ts'
import { WebhookHeaders } from './0140-webhook-headers.ts'
import { IdentifierReason } from './0150-identifier-reason.ts'

export interface NamedMigration {
  /** The file's name without its suffix. The database records it once the migration has run. */
  readonly name: string
  readonly class: new (...args: ConstructorParameters<typeof Migration>) => Migration
  /**
   * It takes away what versions use that do not know the migration `since`: it waits until none of them runs. Absent: it
   * only adds, and nodes of the version before run on beside it.
   */
  readonly contracts?: { readonly since: string }
}

export const migrationsList: readonly NamedMigration[] = [
  { name: '0001-accounts', class: Accounts },
  { name: '0002-credentials', class: Credentials },
  { name: '0003-sandbox', class: Sandbox },
  { name: '0004-request-log', class: RequestLog },
  { name: '0005-links', class: Links },
  { name: '0006-update-blocks', class: UpdateBlocks },
  { name: '0007-deletions', class: Deletions },
  { name: '0008-webhooks', class: Webhooks },
  { name: '0009-media', class: Media },
  { name: '0010-sandbox-rest', class: SandboxRest },
  { name: '0011-bot-profile', class: BotProfile },
  { name: '0012-diagnoses', class: Diagnoses },
  { name: '0013-telegram', class: Telegram },
  { name: '0014-link-pages', class: LinkPagesTable },
  { name: '0015-timeline-repeats', class: TimelineRepeats },
  { name: '0016-sandbox-forums', class: SandboxForums },
  { name: '0017-stories', class: Stories },
  { name: '0018-sandbox-keyboards', class: SandboxKeyboards },
  { name: '0019-epoch-of-the-row', class: EpochOfTheRow },
  { name: '0021-bound-challenges', class: BoundChallenges },
  { name: '0022-shown-urls', class: ShownUrls },
  { name: '0023-sealed-accounts', class: SealedAccounts },
  { name: '0024-erasures', class: Erasures },
  { name: '0025-sandbox-networks', class: SandboxNetworks },
  { name: '0027-write-probe', class: WriteProbe },
  { name: '0029-xmpp-rooms', class: XmppRooms },
  { name: '0034-link-targets', class: LinkTargets },
  { name: '0035-request-reasons', class: RequestReasons },
  { name: '0036-default-kinds', class: DefaultKinds },
  { name: '0040-sandbox-inline', class: SandboxInline },
  { name: '0041-sandbox-prepared-keys', class: SandboxPreparedKeys },
  { name: '0042-sandbox-payments', class: SandboxPayments },
  { name: '0044-sandbox-sticker-sets', class: SandboxStickerSets },
  { name: '0045-sandbox-administration', class: SandboxAdministration },
  { name: '0046-sandbox-business', class: SandboxBusiness },
  { name: '0047-sandbox-subscriptions', class: SandboxSubscriptions },
  { name: '0048-idempotent-calls', class: IdempotentCalls },
  { name: '0049-message-attributes', class: MessageAttributes },
  { name: '0050-ephemeral-messages', class: EphemeralMessages },
  { name: '0052-sandbox-read-marks', class: SandboxReadMarks },
  { name: '0053-sandbox-bots', class: SandboxBots },
  { name: '0061-sandbox-stopped-drafts', class: SandboxStoppedDrafts },
  { name: '0062-sandbox-paid-media', class: SandboxPaidMedia },
  { name: '0063-direct-messages', class: DirectMessages },
  { name: '0065-sandbox-default-rights', class: SandboxDefaultRights },
  { name: '0066-sandbox-delivery-marks', class: SandboxDeliveryMarks },
  { name: '0067-sandbox-communities', class: SandboxCommunities },
  { name: '0070-log-filters', class: LogFilters },
  { name: '0071-usage-totals', class: UsageTotals },
  { name: '0072-identity-changes', class: IdentityChanges },
  { name: '0073-list-orders', class: ListOrders },
  { name: '0076-incidents', class: Incidents },
  { name: '0083-nodes', class: Nodes },
  { name: '0084-owners', class: Owners },
  { name: '0087-log-indexes', class: LogIndexes },
  { name: '0088-log-indexes-replaced', class: LogIndexesReplaced },
  { name: '0091-webhook-exchanges', class: WebhookExchanges },
  { name: '0092-webhook-resends', class: WebhookResends },
  { name: '0096-bulk-actions', class: BulkActions },
  { name: '0107-sandbox-audio', class: SandboxAudio },
  { name: '0110-link-node', class: LinkNode },
  { name: '0111-relink-pages', class: RelinkPagesTable },
  { name: '0112-saved-views', class: SavedViews },
  { name: '0113-tags', class: Tags },
  { name: '0114-alert-notifications', class: AlertNotifications },
  { name: '0115-alert-rules', class: AlertRules },
  { name: '0118-node-orders', class: NodeOrders },
  { name: '0119-node-common', class: NodeCommon },
  { name: '0120-node-figures', class: NodeFigures },
  { name: '0121-node-ends', class: NodeEnds },
  { name: '0125-rolling-upgrades', class: RollingUpgrades },
  { name: '0127-key-troubles', class: KeyTroubles },
  { name: '0128-call-exchanges', class: CallExchanges },
  { name: '0130-backlog-minutes', class: BacklogMinutes },
  { name: '0140-webhook-headers', class: WebhookHeaders },
  { name: '0150-identifier-reason', class: IdentifierReason },
]
