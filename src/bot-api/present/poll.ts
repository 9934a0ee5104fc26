/** Polls in the reference's JSON. */
import type { Poll, Text } from '../../../machines/model/content.ts'
import { present } from './chat.ts'
import type { Names } from './names.ts'
import { markedJson } from './text.ts'

export function pollJson(poll: Poll, ids: Names): object {
  return {
    id: poll.id ?? '',
    question: poll.question.text,
    ...marked('question_entities', poll.question, ids),
    options: poll.options.map(({ text, voters }, place) => ({
      persistent_id: `${place}`,
      text: text.text,
      ...marked('text_entities', text, ids),
      voter_count: voters,
    })),
    total_voter_count: poll.voters,
    is_closed: poll.isClosed,
    is_anonymous: poll.isAnonymous,
    type: poll.isQuiz ? 'quiz' : 'regular',
    allows_multiple_answers: poll.isMultiple,
    allows_revoting: !poll.isQuiz,
    members_only: false,
    ...(poll.right && { correct_option_ids: poll.right, correct_option_id: poll.right[0] }),
    ...(poll.explanation && {
      explanation: poll.explanation.text,
      ...marked('explanation_entities', poll.explanation, ids),
    }),
    ...present({ open_period: poll.openSeconds, close_date: poll.closesAt }),
  }
}

function marked(name: string, text: Text, ids: Names): object {
  const entities = markedJson(text, ids)
  return entities.length > 0 ? { [name]: entities } : {}
}
