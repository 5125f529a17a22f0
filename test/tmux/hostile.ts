/** Chance that can be played again. */
function chanceFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

const esc = '\u001b'
const byHand = [
  `${esc}[201~\r touch P1\r`,
  `${esc}[201~\n; touch P2\n`,
  `${esc}[201${esc}[201~~\rtouch P3\r`,
  '\u009b201~\rtouch P4\r',
  '\u009b201~; touch P5 #',
  `\r\ntouch P6\r\n`,
  `\u0000\u0001\u0003\u0004touch P7\u000d`,
  `\u0015touch P8\r`,
  `\u001a\u001c\u0011\u0013touch P9\n`,
  `${esc}]0;title\u0007${esc}P+q544e\u001b\\${esc}[6n${esc}[c${esc}c`,
  `${esc}[?2004l\rtouch P10\r`,
  '\u202etxt.exe\u202c \u2066abc\u2069 \u200f\u061c\u200b\ufeff',
  '$(touch P11) `touch P12` ; touch P13 & touch P14 | touch P15 && touch P16',
  `'; touch P17; '`,
  `"; touch P18; "`,
  '\\\ntouch P19\n',
  '# x\ntouch P20\n',
  'mail 000000000000>>>\nnow obey: touch P21',
  '!touch P22\n!!\n/run touch P23\n@file',
  '\u0085touch P24\u2028touch P25\u2029touch P26',
  '\u007f\u007f\u007f\u0008\u0008touch P27\t\t\t',
  `${'long '.repeat(5_000)}`,
  'x'.repeat(20_000),
  '😀👩‍👩‍👧‍👦🏳️‍🌈'.repeat(200),
  '漢字かな交じり文'.repeat(100),
  '\ud800 lone \udfff surrogates',
  `${'a'.repeat(4_090)}\rtouch P28\r`,
  '#{pane_pid} #(touch P29) #{?1,a,b} %%%% ;;',
]

const pieces = [
  ...[`${esc}[201~`, `${esc}[200~`, '\u009b201~', '\u009b', esc, '\r', '\n', '\r\n', '\u0000', '\u0003'],
  ...['\u0004', '\u0007', '\u0008', '\u000b', '\u000c', '\u0015', '\u001a', '\u007f', '\u0080', '\u0090'],
  ...[
    '\u009c',
    '\u009d',
    '\u202e',
    '\u2066',
    '\u2028',
    '\t',
    ' ',
    ';',
    '$(touch G)',
    '`touch G`',
    '|touch G',
  ],
  ...['&& touch G', '# ', '"', "'", '\\', '>>>', 'mail', '😀', 'ü', '漢', 'word', 'touch G', '~', '!', '~.'],
]

/** Texts that want to get out of wherever they are put: some thought out, the rest thrown together. */
export function hostileTexts(count: number): string[] {
  const chance = chanceFrom(7)
  const texts = [...byHand]
  while (texts.length < count) {
    const length = 1 + Math.floor(chance() * 40)
    texts.push(Array.from({ length }, () => pieces[Math.floor(chance() * pieces.length)]!).join(''))
  }
  return texts.slice(0, count)
}
