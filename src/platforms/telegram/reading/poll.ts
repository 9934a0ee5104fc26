/** Polls of the network in neutral terms. */
import type { tl } from '@mtcute/node'
import type { Poll, Text } from '../../../../machines/model/content.ts'
import { textOf } from '../entities.ts'

export function pollOf(poll: tl.TypePoll, results: tl.TypePollResults): Poll {
  const answers = poll.answers.filter((answer) => answer._ === 'pollAnswer')
  const resultOf = (option: Uint8Array) =>
    results.results?.find((result) => Buffer.from(result.option).equals(option))
  const right = answers.flatMap(({ option }, place) => (resultOf(option)?.correct ? [place] : []))
  return {
    id: poll.id.toString(),
    question: formatted(poll.question),
    options: answers.map(({ text, option }) => ({
      text: formatted(text),
      voters: resultOf(option)?.voters ?? 0,
    })),
    voters: results.totalVoters ?? 0,
    isClosed: poll.closed === true,
    isAnonymous: poll.publicVoters !== true,
    isQuiz: poll.quiz === true,
    isMultiple: poll.multipleChoice === true,
    ...(right.length > 0 && { right }),
    ...(results.solution && { explanation: textOf(results.solution, results.solutionEntities) }),
    ...(poll.closePeriod !== undefined && { openSeconds: poll.closePeriod }),
    ...(poll.closeDate !== undefined && { closesAt: poll.closeDate }),
  }
}

const formatted = ({ text, entities }: tl.TypeTextWithEntities): Text => textOf(text, entities)
