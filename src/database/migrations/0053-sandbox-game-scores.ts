/** The sandbox keeps the scores of games. */
import { Migration } from '@mikro-orm/migrations'

const statements = [
  `create table sandbox_game_score (
    chat_id bigint not null references sandbox_chat,
    bot_id bigint not null references sandbox_person,
    game text not null,
    person_id bigint not null references sandbox_person,
    score integer not null,
    at timestamptz not null default now(),
    primary key (chat_id, bot_id, game, person_id))`,
  `create index sandbox_game_score_bot on sandbox_game_score (bot_id)`,
  `create index sandbox_game_score_person on sandbox_game_score (person_id)`,
]

export class SandboxGameScores extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
