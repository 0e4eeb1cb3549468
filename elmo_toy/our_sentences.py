"""English sentences with both uses of *bank*, and others to compare with.

Written for the book, before any vector of them was computed, and left as they were. In the manner
of the texts that ``english-small`` has read: lower case, words and signs apart.

Book: chapter 3, "No attention anywhere".
"""

from __future__ import annotations


def _sentences(lines: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(line.split()) for line in lines.strip().splitlines())


RIVER = _sentences("""
    the river had risen in the night and covered the bank .
    we tied the boat to a tree on the bank and slept .
    a man stood on the far bank and called to the raft .
    the steep bank kept the cattle away from the water .
    they climbed the bank and looked down upon the stream .
    grass and willows grew along the bank for many miles .
    the bank was soft with mud after the rain .
    he lay upon the bank and fished until the evening .
    the current had eaten away the bank beneath the old house .
    on the left bank the woods came down to the shore .
    the rat sat by the bank and watched the ripples pass .
    our camp was made under a high bank out of the wind .
""")
"""Twelve sentences in which *bank* is land beside water."""

LOAN = _sentences("""
    the bank had lent more gold than it could pay .
    he went to the bank and asked for a loan of money .
    the notes of the bank were taken at their full value .
    congress gave the bank a charter for twenty years .
    she kept her savings in a bank and lived upon the interest .
    the bank closed its doors and the merchants lost their deposits .
    a clerk of the bank counted the silver into a bag .
    the debt was owed to a bank in the city .
    the directors of the bank refused to discount his bill .
    the treasury placed the public revenue in the bank .
    every bank in the state stopped payment in the same week .
    he drew the whole sum out of the bank before noon .
""")
"""Twelve sentences in which *bank* is where money is kept."""

OTHERS = _sentences("""
    the merchants of the city paid the debt in gold .
    the boat went down the river in the night .
    he sat by the old house and watched the rain .
    the president asked congress for more money .
    the water of the stream was cold and clear .
    she looked at the bill and counted the silver .
    the wind came down from the woods in the evening .
    the public debt was paid before the end of the week .
    a man came to the door and asked for water .
    the old clerk lived in a small house by the shore .
    they slept in the woods and went on before noon .
    the value of gold and silver had risen in the state .
    the raft passed the city in the rain .
    he lost his money and went to the woods .
    the interest of the loan was paid every year .
    we watched the cattle come down to the stream .
    the treasury had more silver than gold .
    the mud on the shore was soft and deep .
    the rat called to his friend from the boat .
    the directors asked for the full sum .
    many miles of the river were closed in the winter .
    the charter was refused by the state .
    the evening was cold and the wind was high .
    the current took the raft away from the shore .
""")
"""Sentences without *bank*; their words occur again and again, to draw random pairs from."""
