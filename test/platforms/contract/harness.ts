/** The other side of a network, as the contract suite needs it: accounts to link, and people who talk to them. */
import type { Platform } from '../../../actors/ports/platform.ts'
import type { Buttons, ReplyKeyboard } from '../../../machines/model/buttons.ts'
import type { Content, ContentName } from '../../../machines/model/content.ts'
import type { Media, MediaKind } from '../../../machines/model/media.ts'
import type { Json } from '../../../machines/model/protocol.ts'
import type { Permission, Right } from '../../../machines/model/rights.ts'

/** Everything a network may be unable to do; each one absent needs its reason in `absent`. */
export type Ability =
  | 'code'
  | 'secondFactor'
  | 'expiry'
  | 'wrongFields'
  | 'cut'
  | 'restartNetwork'
  | 'silence'
  | 'revoke'
  | 'signOut'
  | 'ban'
  | 'replace'
  | 'limit'
  | 'repeat'
  | 'loseAnswer'
  | 'writeElsewhere'
  | 'deduplication'
  | 'unknownChat'
  | 'forbiddenChat'
  | 'publicName'
  | 'peerContent'
  | 'peerOpinions'
  | 'peerVotes'
  | 'emptyFiles'
  | 'group'
  | 'forum'
  | 'peerDrafts'
  | 'stickerSet'
  | 'phone'

export interface ContractHarness {
  readonly platform: Platform
  /** Why an ability is missing here; its tests are reported as skipped with this reason. */
  readonly absent: Readonly<Partial<Record<Ability, string>>>
  /** The platform as a restarted service builds it: shares nothing in memory with `platform`. */
  restarted(): Platform
  /** The same as another node has it, at the same time; absent: as `restarted`. */
  elsewhere?(): Platform
  /**
   * As a service has it, which resumes broken connections; absent: as `platform`. A server may drop its last words when
   * the client speaks at the same moment (Prosody 0.12), and the next connection tells what they were.
   */
  lasting?(): Platform
  /** A fresh account of the network, not linked yet. */
  account(options?: { readonly secondFactor?: SecondFactor }): Promise<Account>
  /** Someone else with a client of their own, whom this account can write to and hear from. */
  peer(account: Account): Promise<Peer>
  /** The whole network goes away and comes back, keeping what it stored. */
  restartNetwork?(): Promise<void>
  /** A file that waits in the gateway's store, ready to be sent; only where the platform declares media. */
  file?(kind: MediaKind, bytes?: Buffer): Promise<Media>
  /** A group that belongs to the account, with the peer as an ordinary member; its native id. */
  group?(account: Account, peer: Peer): Promise<string>
  /** A forum that belongs to the account, with the peer as an ordinary member. */
  forum?(account: Account, peer: Peer): Promise<Forum>
  /** The name of a sticker set. */
  stickerSet?(): Promise<string>
  /** Where a network knows no finer ones. */
  readonly grades?: Grades
  /** A native chat id in the network's form that leads nowhere. */
  readonly unknownChat?: string
}

export interface Forum {
  /** Its native id. */
  readonly chat: string
  /** The peer writes in a topic; rejects as the network refuses it. */
  write(text: string, topic: string): Promise<void>
}

export interface Grades {
  /** What somebody restricted may still do. */
  readonly restricted: readonly Permission[]
  /** What an administrator may do. */
  readonly administrator: readonly Right[]
}

export interface SecondFactor {
  readonly password: string
  readonly hint?: string
}

export interface Account {
  /** The native id that linking is expected to yield. */
  readonly native: string
  readonly method: string
  readonly fields: Readonly<Record<string, string>>
  /** Fields that look right and are not, such as a wrong password. */
  readonly wrongFields?: Readonly<Record<string, string>>
  /** The one-time code the network sent last. */
  code?(): Promise<string>
  /** The codes sent so far are too old from now on. */
  expireCode?(): Promise<void>
  /** Writes to the peer from another device of this account. */
  writeElsewhere?(peer: Peer, text: string): Promise<void>
  /** A chat that exists and in which this account may not write. */
  forbiddenChat?(): Promise<string>

  /** The connection breaks at once. */
  cut?(): Promise<void>
  /** The connection stays and nothing flows any more, until `unsilence`. */
  silence?(): Promise<void>
  unsilence?(): Promise<void>
  /** The account's session is signed out elsewhere. */
  revoke?(): Promise<void>
  /** The account is banned or deleted. */
  ban?(): Promise<void>
  /** Another client takes over the session with these secrets. */
  replace?(secrets: Json): Promise<void>
  /** The network restricts the account for a time. */
  limit?(seconds: number): Promise<void>
  /** From now on the network reports every event twice. */
  repeat?(): Promise<void>
  /** The next send is carried out and its answer lost. */
  loseAnswer?(): Promise<void>
}

/** A message as the peer's client knows it; `handle` means something to the peer alone. */
export interface Sight {
  readonly handle: string
  readonly text: string
  /** The handle of the message that this one answers. */
  readonly replyTo?: string
  readonly forwarded?: boolean
  readonly buttons?: Buttons
  /** Where it is not a text alone. */
  readonly content?: Content
  readonly album?: string
}

export interface Peer {
  /** The private chat with this peer, as the account's session names it. */
  readonly chat: string
  /** The public name under which the account finds this peer or a chat of theirs, and that chat's native id. */
  readonly publicName?: { readonly name: string; readonly chat: string }
  /** Under which the account finds this peer. */
  readonly phone?: string
  write(text: string, options?: { readonly replyTo?: Sight }): Promise<Sight>
  edit(message: Sight, text: string): Promise<void>
  delete(message: Sight): Promise<void>
  /** Reads the chat up to this message; only where the platform tells of that. */
  reads?(message: Sight): Promise<void>
  /** Presses a button and resolves with the answer shown; only where the platform declares buttons. */
  press?(message: Sight, data: string, signal: AbortSignal): Promise<{ text?: string }>
  /** What stands in the place of the peer's ordinary keyboard; only where the platform declares such. */
  keyboard?(): Promise<ReplyKeyboard | undefined>
  /** Resolves once the peer's client shows a message with this text, also one edited to it. */
  sees(text: string, signal: AbortSignal): Promise<Sight>
  /** Sends anything but a text; files as `file` yields them. */
  send?(content: Content): Promise<Sight>
  /** Resolves once the peer's client shows messages of this kind, the newest first. */
  seesKind?(kind: ContentName, signal: AbortSignal): Promise<readonly Sight[]>
  /** The message as the peer's client shows it now. */
  look?(message: Sight): Promise<Sight>
  /** Instead of the reaction before; undefined takes it back. */
  react?(message: Sight, emoji?: string): Promise<void>
  /** Whose reactions the peer's client shows at the message, by their emoji. */
  seesReactions?(message: Sight): Promise<readonly string[]>
  /** The same in a group that both are in. */
  reactIn?(chat: string, message: string, emoji: string): Promise<void>
  /** The captions of the stories that the peer's client shows, the newest first. */
  seesStories?(): Promise<readonly string[]>
  /** Follows an invite link, or asks to be let in by it. */
  follow?(link: string): Promise<void>
  vote?(message: Sight, options: readonly number[]): Promise<void>
  /** Resolves once the peer's client no longer shows it. */
  seesGone(message: Sight, signal: AbortSignal): Promise<void>
  /** Resolves once the account was seen typing after this call. */
  seesTyping(signal: AbortSignal): Promise<void>
  /** The texts that the account is writing to the peer and has not sent yet. */
  seesDrafts?(): Promise<readonly string[]>
  /** How many messages with this text the peer's client shows now. */
  count(text: string): Promise<number>
}
