UPDATE shops SET imported_score = score, imported_comments = comments WHERE review_count = 0;
