/** "ask the host for a new one" → "Ask the host for a new one." */
export function asSentence(message: string): string {
  const text = message.trim()
  if (text === '') return 'It did not work, and no reason was given.'
  const capital = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?…]$/.test(capital) ? capital : `${capital}.`
}
