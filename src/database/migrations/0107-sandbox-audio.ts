/** The music in the profiles of people of the sandbox. */
import { Migration } from '@mikro-orm/migrations'

export class SandboxAudio extends Migration {
  override up(): void {
    this.addSql(`create table sandbox_audio (
      id bigint generated always as identity primary key,
      person_id bigint not null references sandbox_person,
      audio jsonb not null)`)
    this.addSql('create index sandbox_audio_person on sandbox_audio (person_id)')
  }
}
