/** Codes belong to who asked for them, and failures to the network they come from: strangers cannot lock anybody out. */
import { Migration } from '@mikro-orm/migrations'

export class BoundChallenges extends Migration {
  override async up(): Promise<void> {
    // Several live codes for a phone, one for each who asked; the newest is the one with the highest number.
    this.addSql(`alter table otp_challenge
      drop constraint otp_challenge_pkey,
      drop constraint otp_challenge_id_key,
      add primary key (id),
      add column number bigint generated always as identity,
      add column requester text not null default '',
      add column own_tries int not null default 0,
      add column far_tries int not null default 0`)
    this.addSql(`create index otp_challenge_phone on otp_challenge (phone_index, purpose, number)`)
    this.addSql(
      `comment on column otp_challenge.requester is 'the network that asked for the code'`,
    )
    this.addSql(`comment on column otp_challenge.tries is 'from that network, without the id'`)
    this.addSql(`comment on column otp_challenge.own_tries is 'with the id'`)
    this.addSql(`comment on column otp_challenge.far_tries is 'from elsewhere, without the id'`)

    this.addSql(`alter table otp_failures
      drop constraint otp_failures_pkey,
      add column requester text not null default '',
      add primary key (phone_index, requester)`)
    this.addSql(`create index otp_failures_age on otp_failures (failed_at)`)
  }
}
